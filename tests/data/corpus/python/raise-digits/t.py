name = "t"


def transform(sources):
    return [{"id": str(7 ** 9000)}]
