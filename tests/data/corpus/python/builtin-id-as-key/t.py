name = "t"


def transform(sources):
    return [{'id': str(sorted(["b", "a"], key=id))}]
