name = "t"


def transform(sources):
    raise SystemExit(3)
