import operator

name = "t"


def transform(sources):
    return [{"id": str(operator.attrgetter("real.__class__")(1))}]
