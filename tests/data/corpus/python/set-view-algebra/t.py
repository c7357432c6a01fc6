import ast
import collections
import json

name = "t"


def transform(sources):
    left, right = {"a": 1, "b": 2}, ["b", "a"]
    return [{"id": "v", "v": [key for key in left.keys() & right]}]
