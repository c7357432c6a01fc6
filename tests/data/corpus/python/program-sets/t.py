import json
import re

name = "sets"

STOP = frozenset({"the", "a", "of", "and"})


class Index:
    """Which rows hold which words."""

    def __init__(self):
        self.rows = {}
        self.seen = set()

    def add(self, key, words):
        fresh = words - self.seen
        self.seen |= words
        for word in words:
            self.rows.setdefault(word, set()).add(key)
        return fresh

    def common(self, *words):
        found = [self.rows.get(word, set()) for word in words]
        return set.intersection(*found) if found else set()


def transform(sources):
    index, cases = Index(), []
    for row in map(json.loads, sources["rows"]["content"].splitlines()):
        words = {word for word in re.findall(r"[a-z]+", row["text"].lower())} - STOP
        fresh = index.add(row["id"], words)
        cases.append({"id": row["id"], "words": sorted(words), "fresh": sorted(fresh), "n": len(index.seen), "stop": not words & STOP})
    pairs = {tuple(sorted((a, b))) for a in index.rows for b in index.rows if a != b and index.common(a, b)}
    only = {word for word, rows in index.rows.items() if len(rows) == 1}
    best = max(sorted(index.rows), key=lambda word: len(index.rows[word]))
    return cases + [{"id": "all", "pairs": sorted(pairs)[:4], "only": sorted(only ^ {"zebra"}), "best": best, "both": sorted(index.common("red", "cat")),
                     "sub": {"cat"} <= index.seen, "any": any(word.startswith("d") for word in index.seen)}]
