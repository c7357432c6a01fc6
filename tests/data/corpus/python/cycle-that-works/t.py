from .even import even

name = "t"


def transform(sources):
    return [{"id": "c", "n": even(10), "m": even(7)}]
