import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": max({"aa", "bb", "c"}, key=len)}]
