name = "t"


def transform(sources):
    return [{'id': str(vars(transform))}]
