from .tags import tga

name = "t"


def transform(sources):
    return [{"id": tga("x")}]
