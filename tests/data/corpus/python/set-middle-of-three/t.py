import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": list({"owl", "elk", "bee"})[1]}]
