from builtins import sorted, open as o

name = "t"


def transform(sources):
    return [{'id': str(o)}]
