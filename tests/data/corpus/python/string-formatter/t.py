import string

name = "t"


def transform(sources):
    return [{"id": string.Formatter().format("{0.__class__.__base__}", 1)}]
