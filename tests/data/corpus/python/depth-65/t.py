name = "t"


def transform(sources):
    value = {}
    for _ in range(63):
        value = {"k": value}
    return [{"id": "d", "v": value}]
