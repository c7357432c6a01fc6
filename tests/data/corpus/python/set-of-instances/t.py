import ast
import collections
import json

name = "t"


def transform(sources):
    class Row:
        def __init__(self, n): self.n = n


    rows = [Row(n) for n in range(4)]
    return [{"id": "i", "v": [row.n for row in set(rows)]}]
