name = "t"


def transform(sources):
    raise ExceptionGroup("rows", [ValueError("first"), TypeError("second")])
