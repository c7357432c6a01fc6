name = "t"


def transform(sources):
    return [{'id': str(bool.mro())}]
