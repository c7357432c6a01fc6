name = "t"


def transform(sources):
    return [{'id': str(eval("6 * 7"))}]
