name = "t"


def transform(sources):
    raise ValueError("bad \ud800 text")
