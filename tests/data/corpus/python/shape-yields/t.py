name = "t"


def transform(sources):
    yield from [{"id": "x"}]
