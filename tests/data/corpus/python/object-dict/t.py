name = "t"


def transform(sources):
    return [{'id': str("".join.__dir__())}]
