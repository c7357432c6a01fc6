name = "t"


def transform(sources):
    try:
        found = getattr(transform, "__" + "dict__")
    except BaseException:
        found = "nothing"
    return [{"id": found}]
