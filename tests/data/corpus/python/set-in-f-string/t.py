import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": f"tags: { {1, 2} }"}]
