name = "t"


def transform(sources):
    return [{'id': str(sorted(globals())[0])}]
