import ast
import collections
import json

name = "t"


def transform(sources):
    waiting = {"b", "a"}
    return [{"id": waiting.pop()}]
