import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": json.dumps({"tags": {"b", "a"}}, default=list)}]
