name = "t"


def transform(sources):
    return [{'id': str(type("").__mro__[-1].__subclasses__())}]
