name = "t"


def transform(sources):
    raise KeyboardInterrupt
