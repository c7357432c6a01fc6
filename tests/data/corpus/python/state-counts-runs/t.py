calls = []

name = "t"


def transform(sources):
    calls.append(1)
    if len(calls) == 1:
        raise LookupError("first call")
    return [{"id": "x"}]
