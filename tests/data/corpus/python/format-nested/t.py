name = "t"


def transform(sources):
    return [{"id": "{0:{1.__class__.__base__}}".format(1, 2)}]
