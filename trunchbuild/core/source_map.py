"""Positions of generated JavaScript back to the author's file, by the source map inside the text.

Source Map revision 3 (ECMA-426), the part that type stripping writes: one source, no sections, inline as a data URL.
"""

from __future__ import annotations

import base64
import binascii
import json
from bisect import bisect_right

_MARK = "//# sourceMappingURL=data:application/json;base64,"
_LAST_SHIFT = 30
"""ECMA-426 keeps a number within 32 bits: seven digits. Authors can write maps too."""
_DIGITS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


class SourceMap:
    """The map that stands at the end of a text."""

    def __init__(self, lines: list[list[tuple[int, int, int]]]) -> None:
        self._lines = lines

    @classmethod
    def inside(cls, text: str) -> SourceMap | None:
        """The map of `text`; None where there is none, or none that can be read."""
        at = text.rfind(_MARK)
        if at < 0 or "\n" in text[at:].rstrip():
            return None
        try:
            mappings = json.loads(base64.b64decode(text[at + len(_MARK) :].strip()))["mappings"]
            return cls(_decode(mappings)) if isinstance(mappings, str) else None
        except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):
            return None

    def original(self, line: int, column: int) -> tuple[int, int]:
        """The author's (line, column) of a generated one, all from 1, columns in UTF-16 units.

        A damaged map may lead to no position of the file at all; the file's start is then the nearest.
        """
        lines = self._lines
        # Generated lines without a segment of their own belong to the last one before them.
        for number in range(min(line, len(lines)) - 1, -1, -1):
            segments = lines[number]
            index = bisect_right(segments, column - 1, key=lambda segment: segment[0]) - 1 if number == line - 1 else -1
            if segments and (index >= 0 or number < line - 1):
                _, original_line, original_column = segments[index]
                return max(original_line, 0) + 1, max(original_column, 0) + 1
        return line, column


def original_position(text: str, line: int, column: int) -> tuple[int, int]:
    """As `SourceMap.original`; unchanged where `text` carries no map."""
    found = SourceMap.inside(text)
    return (line, column) if found is None else found.original(line, column)


def _decode(mappings: str) -> list[list[tuple[int, int, int]]]:
    """Per generated line the segments (generated column, original line, original column), from 0."""
    source_line, source_column = 0, 0
    lines: list[list[tuple[int, int, int]]] = []
    for group in mappings.split(";"):
        segments: list[tuple[int, int, int]] = []
        generated = 0
        for segment in filter(None, group.split(",")):
            fields = _numbers(segment)
            generated += fields[0]
            if len(fields) >= 4:
                source_line += fields[2]
                source_column += fields[3]
                segments.append((generated, source_line, source_column))
        lines.append(segments)
    return lines


def _numbers(segment: str) -> list[int]:
    """Base64 VLQ: five bits a digit, the sixth says that more follow, the lowest bit of the whole is the sign."""
    numbers: list[int] = []
    value, shift = 0, 0
    for character in segment:
        digit = _DIGITS[character]
        if shift > _LAST_SHIFT:
            raise ValueError("a number beyond 32 bits")
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value, shift = 0, 0
    if not numbers:
        raise ValueError("a segment without a number")
    return numbers
