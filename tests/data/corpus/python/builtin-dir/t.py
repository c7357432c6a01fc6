name = "t"


def transform(sources):
    return [{'id': str(dir([])[0])}]
