name = "t"


def transform(sources):
    return [{'id': str((lambda run: run("x = 1"))(exec))}]
