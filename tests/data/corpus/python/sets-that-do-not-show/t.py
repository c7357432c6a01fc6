import json

name = "t"


def transform(sources):
    rows = [json.loads(line) for line in sources["rows"]["content"].splitlines()]

    words = {word.lower() for row in rows for word in row["text"].split()}
    vowels = {c for c in "night bird" if c in {"a", "e", "i", "o", "u"}}
    shared = {"a": 1, "b": 2, "c": 3}.keys() & {"b", "c", "z"}
    longest = max(words, key=lambda word: (len(word), word))
    grown = set()
    for word in words:
        grown |= set(word)
    return [{"id": longest, "words": sorted(words), "vowels": sorted(vowels), "shared": sorted(shared), "letters": len(grown),
             "all": all(word == word.lower() for word in words), "total": sum(len(word) for word in words),
             "frozen": {frozenset("ab"): "same"}[frozenset("ba")], "one": {5}.pop(), "none": str(set()),
             "disjoint": words.isdisjoint({"x"}), "by": {key: len(key) for key in sorted(words)}}]
