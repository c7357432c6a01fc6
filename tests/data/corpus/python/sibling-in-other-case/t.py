from .Tags import tag

name = "t"


def transform(sources):
    return [{"id": tag("x")}]
