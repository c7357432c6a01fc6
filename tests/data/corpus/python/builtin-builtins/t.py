name = "t"


def transform(sources):
    return [{'id': str(__builtins__["len"]("a"))}]
