name = "t"


def transform(sources):
    return {"id": "x"}
