from .later import lazy

name = "t"


def transform(sources):
    return [{"id": lazy()}]
