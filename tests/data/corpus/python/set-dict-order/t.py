import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": "d", "v": dict.fromkeys({"b", "a"}, 0)}]
