import json

from . import json as mine

name = "t"


def transform(sources):
    return [{"id": mine.VALUE, "theirs": json.dumps([1])}]
