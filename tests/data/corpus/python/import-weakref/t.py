import weakref

name = "t"


def transform(sources):
    return [{'id': str(weakref)}]
