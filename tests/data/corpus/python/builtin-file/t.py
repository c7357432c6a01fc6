name = "t"


def transform(sources):
    return [{'id': str(__file__)}]
