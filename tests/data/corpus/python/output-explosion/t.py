name = "t"


def transform(sources):
    line = "x" * 1_000_000
    return [{"id": str(n), "t": line} for n in range(20)]
