import json

name = "t"


def transform(sources):
    try:
        json.loads("{")
    except json.decoder.JSONDecodeError as error:
        kind = type(error).__name__
    return [{"id": kind}]
