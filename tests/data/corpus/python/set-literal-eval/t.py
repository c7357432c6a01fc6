import ast
import collections
import json

name = "t"


def transform(sources):
    return [{"id": str(list(ast.literal_eval("{1, 2}")))}]
