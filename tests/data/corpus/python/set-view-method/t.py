import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": "v", "v": list({"a": 1, "b": 2}.keys().__rsub__(["c", "d"]))}]
