name = "t"


def transform(sources):
    return [{'id': print.__self__.__name__}]
