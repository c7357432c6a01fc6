name = "t"


def transform(sources):
    deepest = 0


    def down(level):
        nonlocal deepest
        deepest = level
        return down(level + 1)


    try:
        down(0)
    except RecursionError as error:
        text = str(error)
    return [{"id": text, "v": deepest}]
