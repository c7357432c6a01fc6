name = "t"


def transform(sources):
    return [{'id': sorted(transform.__globals__)[0]}]
