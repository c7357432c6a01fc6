name = "a\ud800"


def transform(sources):
    return [{"id": "x"}]
