name = "t"


def transform(sources):
    return [{"id": "{0.__class__}".format(1)}]
