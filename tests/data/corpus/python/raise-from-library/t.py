import json

name = "t"


def transform(sources):
    return [{"id": json.loads("[1,")}]
