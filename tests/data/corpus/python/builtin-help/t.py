name = "t"


def transform(sources):
    return [{'id': str(help)}]
