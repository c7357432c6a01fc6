name = "t"


def transform(sources):
    return [{"id": "x"}]
from __future__ import annotations
