calls = []

name = "t"


def transform(sources):
    calls.append(len(calls))
    sources["rows"]["content"] += "changed"
    sources.clear()
    return [{"id": "x", "v": calls}]
