name = "t"


def transform(sources):
    return [{"id": sources["row"]["content"]}]
