import itertools

name = "t"


def transform(sources):
    for number in itertools.count():
        if number < 0:
            break
    return []
