import numpy as np

name = "t"


def transform(sources):
    return [{'id': str(np)}]
