import collections
import decimal
import enum
import fractions
import json
import math
import types

name = "t"


def transform(sources):
    return [{'id': 'x', 'v': [[n for n in "ab"], (n for n in "ab")]}]
