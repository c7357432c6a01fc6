import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": "s", "v": sorted({"bb", "aa"}, key=len)}]
