import threading

name = "t"


def transform(sources):
    return [{'id': str(threading.active_count())}]
