import ast
import collections
import json

name = "t"


def transform(sources):
    total = 0.0
    for part in {1e16, 1.0, -1e16}:
        total += part
    return [{"id": "f", "v": total}]
