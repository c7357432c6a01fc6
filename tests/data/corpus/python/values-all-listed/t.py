name = "t"


def transform(sources):
    return [{"id": "a"}, {"id": "b", "p": {1}, "q~/": b"", "r": {2: 3}}, ["c"]]
