name = "t"


def transform(sources):
    value = []
    for _ in range(62):
        value = [value]
    return [{"id": "d", "v": value}]
