def transform(sources):
    return [{"id": "x"}]
