"""JSON.stringify and number formatting as ECMA-262 defines them, so that exports have the bytes Node would write."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring

from trunchbuild.core.json_types import Json
from trunchbuild.errors import BadInputError

SAFE_INTEGER = 2**53 - 1
"""Number.MAX_SAFE_INTEGER: up to here every integer is its own double."""

_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_LAST_ARRAY_INDEX = 2**32 - 2
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def number_text(value: float) -> str:
    """Write a number as Number::toString does (ECMA-262, 6.1.6.1.20); an int beyond 2^53 is written as its double.

    Raises:
        BadInputError: The value is NaN or infinite as a double.
    """
    if -SAFE_INTEGER <= value <= SAFE_INTEGER and isinstance(value, int):
        return str(int(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BadInputError("not a JSON number", expected="a finite double", got=str(number))
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # repr gives the shortest digits that read back as the same double, nearest first: the digits ECMA-262 asks for.
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(digits))
    return sign + _place_point(digits.rstrip("0"), point)


def _place_point(digits: str, point: int) -> str:
    """Steps 6 to 12 of Number::toString: `digits` are s, `point` is n in the words of the standard."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    fraction = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def exact_integer(literal: str) -> int | float:
    """The value of an integer literal; a float where it lies beyond Number.MAX_SAFE_INTEGER.

    Raises:
        ValueError: ECMAScript would print its double with other digits (9007199254740993 comes back as ...992).
    """
    if literal == "-0":
        return 0
    # 21 digits and a sign are the most that Number::toString writes without an exponent.
    if len(literal) > 22 or number_text(float(literal)) != literal:
        raise ValueError(literal)
    value = int(literal)
    return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else float(literal)


def string_text(value: str) -> str:
    """Write a string as QuoteJSONString does (ECMA-262, 25.5.2.3): a lone surrogate becomes its escape."""
    quoted = encode_basestring(value)
    return quoted if quoted.isascii() else _SURROGATES.sub(_well_formed, quoted)


def _well_formed(match: re.Match[str]) -> str:
    units = match.group()
    if len(units) == 1:
        return f"\\u{ord(units):04x}"
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def own_keys(value: Mapping[str, Json]) -> Sequence[str]:
    """The keys in the order of OrdinaryOwnPropertyKeys: array indices ascending, then the others as inserted."""
    indices = [key for key in value if _ARRAY_INDEX.match(key) and int(key) <= _LAST_ARRAY_INDEX]
    if not indices:
        return list(value)
    first = set(indices)
    return sorted(indices, key=int) + [key for key in value if key not in first]


def stringify(value: Json, indent: int = 0) -> str:
    """Return `JSON.stringify(value, null, indent)`.

    Raises:
        BadInputError: The value holds NaN or an infinity, is nested too deeply, or is not JSON.
    """
    try:
        return _write(value, " " * indent, "\n" if indent else "")
    except RecursionError:
        raise BadInputError("nested too deeply to be written as JSON") from None


def _write(value: Json, step: str, line: str) -> str:
    """`line` is the line break with the indentation of the surrounding value, empty when compact."""
    if isinstance(value, str):
        return string_text(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number_text(value)
    inner = line + step
    if isinstance(value, Mapping):
        colon = ": " if step else ":"
        return _enclose(
            "{}", [string_text(key) + colon + _write(value[key], step, inner) for key in own_keys(value)], line, inner
        )
    if isinstance(value, Sequence):
        return _enclose("[]", [_write(item, step, inner) for item in value], line, inner)
    raise BadInputError("not a JSON value", got=type(value).__name__)


def _enclose(brackets: str, parts: list[str], line: str, inner: str) -> str:
    if not parts:
        return brackets
    return brackets[0] + inner + f",{inner}".join(parts) + line + brackets[1]
