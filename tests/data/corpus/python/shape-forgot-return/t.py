name = "t"


def transform(sources):
    [{"id": "x"}]
