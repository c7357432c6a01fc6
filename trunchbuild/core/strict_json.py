"""Strict reading of JSON and JSON lines: what RFC 8259 leaves open is refused, with line and column.

Refused beside plain syntax errors: duplicate keys, NaN and Infinity, numbers beyond a double, integers whose double has
other digits, lone surrogates, invalid UTF-8, deep nesting, data after the value. One leading byte order mark goes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from trunchbuild.core.ecmascript import SAFE_INTEGER, exact_integer
from trunchbuild.core.json_faults import first_fault
from trunchbuild.core.json_types import Json
from trunchbuild.errors import BadInputError

MAX_DEPTH = 128
"""Arrays and objects inside one another in one document."""

_BOM = b"\xef\xbb\xbf"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonError(BadInputError):
    """A text is not strict JSON; the place is file, line and column."""

    slug: ClassVar[str] = "bad-json"


class _Refused(Exception):  # noqa: N818 - never leaves this module
    """The parser's hooks saw something that JSON's grammar allows and we do not."""


def read_json(data: bytes, place: str) -> Json:
    """Read one document; `place` is the file's name for messages.

    Integral numbers within Number.MAX_SAFE_INTEGER come as int (`1.0` too), all others as float: a number is a double.

    Raises:
        JsonError: The data is not strict JSON.
    """
    text = data.removeprefix(_BOM)
    return _read(_decode(text, place, line=None, start=len(data) - len(text)), place, line=None)


def read_jsonl(data: bytes, place: str) -> Iterator[tuple[int, Json]]:
    """Read JSON lines: `(line number from 1, value)` for each line that is not blank.

    A record ends at LF only; one CR before it is dropped. Reading stops at the first broken line.

    Raises:
        JsonError: A line is not strict JSON; what came before it has been yielded.
    """
    return read_json_lines(_split(data), place)


def read_json_lines(lines: Iterable[bytes], place: str) -> Iterator[tuple[int, Json]]:
    r"""Like `read_jsonl`, from lines as a binary file yields them (each with its `\n`, the last perhaps without)."""
    start = 0
    for number, raw in enumerate(lines, 1):
        line = raw.removeprefix(_BOM) if number == 1 else raw
        start += len(raw)
        text = _decode(line, place, line=number, start=start - len(line))
        text = text.removesuffix("\n").removesuffix("\r")
        if text and not (text.isspace() and not text.strip(" \t\r")):
            yield number, _read(text, place, line=number)


def _split(data: bytes) -> Iterator[bytes]:
    start, end = 0, data.find(b"\n")
    while end >= 0:
        yield data[start : end + 1]
        start, end = end + 1, data.find(b"\n", end + 1)
    if start < len(data):
        yield data[start:]


def _decode(data: bytes, place: str, *, line: int | None, start: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = line or data.count(b"\n", 0, error.start) + 1
        raise JsonError(
            f"not UTF-8 at byte offset {start + error.start}",
            place=f"{place}:{number}",
            got=f"byte 0x{data[error.start]:02x}",
            hint="save the file as UTF-8",
        ) from None


def _read(text: str, place: str, *, line: int | None) -> Json:
    """The C parser decides quickly; where it or a check refuses, a slow reader finds the place and the words."""
    try:
        value = _parse(text)
    except (ValueError, RecursionError, _Refused):
        raise _explain(text, place, line) from None
    return value


def _parse(text: str) -> Json:
    value: Json
    try:
        value, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError:
        end = -1
    if end != len(text):
        value = _DECODER.decode(text)
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise _Refused
    # Raw surrogates cannot come out of UTF-8, so only escapes can make a lone one.
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def is_deeper(value: Json, limit: int) -> bool:
    """Whether more than `limit` arrays and objects stand inside one another; walks level by level, at any depth."""
    level: list[Json] = [value]
    for _ in range(limit + 1):
        inner: list[Json] = []
        found = False
        for item in level:
            if isinstance(item, dict):
                found = True
                inner.extend(item.values())
            elif isinstance(item, list):
                found = True
                inner.extend(item)
        if not found:
            return False
        level = inner
    return True


def _explain(text: str, place: str, line: int | None) -> JsonError:
    fault = first_fault(text, MAX_DEPTH)
    before = text[: fault.offset]
    row = before.count("\n") + 1
    column = fault.offset - (before.rfind("\n") + 1) + 1
    where = f" at {fault.pointer}" if fault.pointer else ""
    return JsonError(
        f"{fault.message}{where}",
        place=f"{place}:{line or row}:{column}",
        expected=fault.expected,
        got=fault.got,
        hint=fault.hint,
    )


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused
    return value


def _integer(literal: str) -> int | float:
    return int(literal) if len(literal) < 16 else exact_integer(literal)


def _fraction(literal: str) -> int | float:
    value = float(literal)
    if value.is_integer() and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return int(value)
    if not math.isfinite(value):
        raise _Refused
    return value


def _constant(name: str) -> None:
    raise _Refused(name)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_fraction, parse_constant=_constant
)
