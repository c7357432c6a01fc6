name = "t"


def transform(sources):
    return [{"id": str("a".__hash__())}]
