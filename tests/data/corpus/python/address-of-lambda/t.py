import json

name = "t"


def transform(sources):
    return [{'id': f"{(lambda: 1)}"}]
