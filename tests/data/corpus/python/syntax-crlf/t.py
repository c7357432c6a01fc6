name = "t"


def transform(sources):
    return [{"id": """a
b"""}]
