name = "t"


def transform(sources):
    return [{"id": "x"}]
bad = "\N{NO SUCH NAME}"
