import tags

tag = tags.tag

name = "t"


def transform(sources):
    return [{"id": tag("x")}]
