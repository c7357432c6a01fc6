import pickle

name = "t"


def transform(sources):
    return [{'id': str(pickle)}]
