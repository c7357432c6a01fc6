from __future__ import magic
name = "t"


def transform(sources):
    return [{"id": "x"}]
