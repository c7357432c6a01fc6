name = "t"


def transform(sources):
    return [{"id": "x"}]


def f(a, b, a):
    pass
