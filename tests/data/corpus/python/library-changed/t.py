import json

name = "t"


def transform(sources):
    json.dumps = repr
    return [{"id": json.dumps({"a": 1})}]
