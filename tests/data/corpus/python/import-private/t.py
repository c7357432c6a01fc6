from collections import _sys

name = "t"


def transform(sources):
    return [{'id': str(_sys.version)}]
