import ast
import collections
import json

name = "t"


def transform(sources):
    class Box: pass


    box = Box()
    box.keys = {"a": 1, "b": 2}.keys()
    box.keys &= ["b", "a"]
    return [{"id": "v", "v": list(box.keys)}]
