import ast
import collections
import json

name = "t"


def transform(sources):
    words = set("one two three four five six seven".split())
    return [{"id": [*words][len(words) // 2]}]
