from urllib import request

name = "t"


def transform(sources):
    return [{'id': str(request)}]
