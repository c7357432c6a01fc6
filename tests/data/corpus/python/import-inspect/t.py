import inspect

name = "t"


def transform(sources):
    return [{'id': str(inspect)}]
