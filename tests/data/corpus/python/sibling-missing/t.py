try:
    from .extra import words
except ImportError:
    words = []

name = "t"


def transform(sources):
    return [{"id": "x"}]
