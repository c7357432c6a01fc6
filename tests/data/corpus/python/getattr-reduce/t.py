import functools

name = "t"


def transform(sources):
    return [{"id": str(functools.reduce(getattr, "__class__ __base__".split(), 1))}]
