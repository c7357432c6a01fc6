name = "t"
rows = [1, 2


def transform(sources):
    return rows
