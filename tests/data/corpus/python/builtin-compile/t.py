name = "t"


def transform(sources):
    return [{'id': str(compile("1", "x", "eval"))}]
