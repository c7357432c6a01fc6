import collections
import decimal
import enum
import fractions
import json
import math
import types

name = "t"


def transform(sources):
    return [{'id': 'x', 'v': [1, {"x": float("nan")}]}]
