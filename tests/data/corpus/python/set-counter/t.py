import ast
import collections
import json

name = "t"


def transform(sources):
    ranks = collections.Counter({"b", "a"})
    return [{"id": ranks.most_common(1)[0][0]}]
