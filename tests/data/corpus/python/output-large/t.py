name = "t"


def transform(sources):
    return [{"id": "x" * 3, "n": len("y" * 1_000_000)}]
