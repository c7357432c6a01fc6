import signal

name = "t"


def transform(sources):
    return [{'id': str(signal)}]
