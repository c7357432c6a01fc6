name = "t"


def transform(sources):
    return [{"id": __import__("o" + "s").name}]
