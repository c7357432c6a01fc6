import collections
import fractions
import json
import math

name = "t"


def transform(sources):
    kinds = [math.inf, -math.inf, 10**400, fractions.Fraction(1, 3), 1j, collections.deque(), {}.values(), range(2), int, ..., KeyError("k"), math,
             {True: 1}, {("a", 1): 1}, json.loads('"\\ud83d"'), map(str, []), memoryview(b""), NotImplemented, slice(1), property(), {1}, super]
    return [{"id": str(at), "v": kind} for at, kind in enumerate(kinds)]
