import collections
import json

name = "t"


def transform(sources):
    rows = [json.loads(line) for line in sources["rows"]["content"].splitlines()]

    counts = collections.Counter(letter for row in rows for letter in row["id"])
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
    return [{"id": "top", "v": top, "first": collections.Counter("abab").most_common(1)}]
