from os import *

name = "t"


def transform(sources):
    return [{'id': str(sep)}]
