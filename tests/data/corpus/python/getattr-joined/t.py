name = "t"


def transform(sources):
    names = ["__", "base", "__"]
    return [{"id": str(getattr(int, "".join(names)))}]
