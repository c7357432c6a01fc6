#!/usr/bin/env python3
# vim: set fileencoding=nonsense :
name = "t"


def transform(sources):
    return [{"id": "x"}]
