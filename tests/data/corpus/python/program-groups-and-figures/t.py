import bisect
import heapq
import itertools
import json
import math
import operator
import statistics
from collections import Counter, OrderedDict, deque
from fractions import Fraction

name = "figures"


def windows(values, size):
    seen = deque(maxlen=size)
    for value in values:
        seen.append(value)
        if len(seen) == size:
            yield tuple(seen)


def transform(sources):
    rows = [json.loads(line) for line in sources["rows"]["content"].splitlines()]
    key = operator.itemgetter("group")
    cases = []
    for group, members in itertools.groupby(sorted(rows, key=key), key=key):
        values = [member["v"] for member in members]
        cases.append({
            "id": group, "mean": statistics.mean(values) + 0.125, "median": str(statistics.median(values)),
            "spread": round(statistics.pstdev(values), 6) + 0.0625, "exact": str(sum(Fraction(value, 3) for value in values)),
            "windows": list(windows(values, 2)), "gcd": math.gcd(*values), "two": heapq.nlargest(2, values),
        })
    counts = Counter(letter for row in rows for letter in row["group"])
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    running = list(itertools.accumulate((row["v"] for row in rows), max))
    edges = [2, 5, 9]
    bins = OrderedDict((str(edge), 0) for edge in edges)
    for row in rows:
        bins[str(edges[min(bisect.bisect_left(edges, row["v"]), 2)])] += 1
    pairs = [a + b for a, b in itertools.pairwise(dict(ranked))]
    return cases + [{"id": "all", "ranked": ranked, "running": running, "bins": bins, "pairs": pairs,
                     "zipped": list(itertools.zip_longest("ab", [1], fillvalue="-")), "comb": ["".join(c) for c in itertools.combinations("abc", 2)]}]
