import statistics

name = "t"


def transform(sources):
    return [{"id": statistics.random.__name__}]
