# -*- coding: iso-8859-15 -*-
name = "t"


def transform(sources):
    return [{"id": "x"}]
