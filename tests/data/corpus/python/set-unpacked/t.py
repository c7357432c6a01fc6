import ast
import collections
import json

name = "t"


def transform(sources):
    first, *rest = {"b", "a"}
    return [{"id": first, "rest": rest}]
