name = "t"


def transform(sources):
    return [{}] * 25_001
