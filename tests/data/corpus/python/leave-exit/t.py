name = "t"


def transform(sources):
    exit()
