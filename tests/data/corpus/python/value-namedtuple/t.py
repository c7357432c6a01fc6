import collections
import decimal
import enum
import fractions
import json
import math
import types

name = "t"


def transform(sources):
    return [{'id': 'x', 'v': collections.namedtuple("P", "x y")(1, 2)}]
