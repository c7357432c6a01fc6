from multiprocessing import Pool

name = "t"


def transform(sources):
    return [{'id': str(Pool)}]
