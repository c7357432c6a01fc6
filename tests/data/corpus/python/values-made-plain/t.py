import collections
import decimal
import enum
import json
import math

name = "t"


def transform(sources):
    class Color(enum.Enum):
        RED = "red"


    point = collections.namedtuple("P", "x y")(1, 2)
    return [{"id": Color.RED.value, "big": str(2**53 + 1), "even": json.loads('{"id":9007199254740992}'), "decimal": str(decimal.Decimal("1.10")), "bytes": b"abc".decode(),
             "set": sorted({2, 1}), "point": point._asdict(), "list": list(point), "keys": {str(7): 1}, "proto": {"__prot__": 1},
             "constructor": {"toString": None}, "pair": json.loads('"\\ud83d\\ude00"'), "none": math.nan != math.nan}]
