name = "t"


def transform(sources):
    cells = "a,b".split(",")
    return [{"id": cells[2]}]
