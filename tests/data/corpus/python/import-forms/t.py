import collections as abc
import collections.abc as cabc
import json
from math import *
from textwrap import wrap

name = "t"


def transform(sources):
    rows = [json.loads(line) for line in sources["rows"]["content"].splitlines()]

    counts = abc.Counter(row["id"][0] for row in rows)
    return [{"id": "x", "pi": floor(pi), "n": counts["o"], "w": wrap("aa bb", 3), "abc": isinstance([], cabc.Sequence)}]
