from ....outside import secret

name = "t"


def transform(sources):
    return [{"id": secret}]
