import json

name = "t"


def transform(sources):
    return [{'id': "{0.append}".format([])}]
