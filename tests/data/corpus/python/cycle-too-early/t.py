from .first import NAME

name = "t"


def transform(sources):
    return [{"id": NAME}]
