name = "t"


def transform(sources):
    return [{"id": "{x.__class__.__mro__}".format(x=1)}]
