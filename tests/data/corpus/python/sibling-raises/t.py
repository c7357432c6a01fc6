from .sizes import SIZE

name = "t"


def transform(sources):
    return [{"id": SIZE}]
