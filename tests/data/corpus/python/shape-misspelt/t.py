name = "t"


def tranform(sources):
    return [{"id": "x"}]
