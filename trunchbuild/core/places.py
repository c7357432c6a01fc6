"""Where a position of the text that runs lies in the author's file.

A place is line and column, both from 1. A line ends at LF, CR LF or CR, as editors count (U+2028 ends none). A column
counts characters, that is code points: a tab is one, an emoji is one, a byte order mark at the file's start is none.

What runs may be another text than the author's. Type stripping puts blanks over what it removes and keeps every offset
in UTF-16 units (so not those in characters); where it had to write code it adds a source map.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from trunchbuild.core.source_map import SourceMap

LINE_END = re.compile(r"\r\n|\r|\n")
"""What ends a line of the author's file. Python's parser counts alike."""
# ECMA-262, 12.3: what V8 counts as the end of a line.
_LANGUAGE_LINE_END = re.compile(r"\r\n|[\r\n\u2028\u2029]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class _Text:
    """A text in which characters, UTF-16 units and lines are told from each other in logarithmic time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: dict[re.Pattern[str], list[int]] = {}
        self._astral: list[int] | None = None

    def starts(self, line_end: re.Pattern[str]) -> list[int]:
        """Offsets of the lines."""
        if line_end not in self._starts:
            self._starts[line_end] = [0, *(found.end() for found in line_end.finditer(self.text))]
        return self._starts[line_end]

    def length(self) -> int:
        """UTF-16 units of the whole."""
        return self.units(len(self.text))

    def units(self, offset: int) -> int:
        """UTF-16 units before an offset in characters."""
        return offset + bisect_left(self._wide(), offset)

    def characters(self, units: int) -> int:
        """Characters before an offset in UTF-16 units."""
        wide = self._wide()
        # The character at index i of the wide ones begins at so many units.
        return units - bisect_left(range(len(wide)), units, key=lambda i: wide[i] + i)

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset in characters."""
        starts = self.starts(LINE_END)
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def offset(self, line: int, column: int, line_end: re.Pattern[str]) -> int:
        """The offset in UTF-16 units of a line and a column in UTF-16 units."""
        starts = self.starts(line_end)
        return self.units(starts[min(max(line, 1), len(starts)) - 1]) + max(column, 1) - 1

    def _wide(self) -> list[int]:
        if self._astral is None:
            self._astral = [] if self.text.isascii() else [found.start() for found in _ASTRAL.finditer(self.text)]
        return self._astral


class Places:
    """The places of one module."""

    def __init__(self, text: str, source: str | None = None) -> None:
        """`text` is what runs, `source` the author's text without its byte order mark; None where it is the same."""
        self._text = _Text(text)
        self._source = self._text if source is None or source == text else _Text(source)
        # A stripped text is as long as the author's; a map in it is then the author's own, and not about this file.
        self._may_have_map = self._source.length() != self._text.length()
        self._map: SourceMap | None = None

    def of_character(self, offset: int) -> tuple[int, int]:
        """The place of an offset in characters of the text that runs."""
        if self._source is self._text:
            return self._source.position(offset)
        return self.of_unit(self._text.units(offset))

    def of_unit(self, offset: int) -> tuple[int, int]:
        """The place of an offset in UTF-16 units of the text that runs."""
        source_map = self._source_map()
        if source_map is None:
            return self._source.position(min(self._source.characters(offset), len(self._source.text)))
        text = self._text
        # Maps count lines by LF alone, and columns in UTF-16 units.
        starts = text.starts(_LF)
        line = bisect_right(starts, text.characters(offset))
        line, column = source_map.original(line, offset - text.units(starts[line - 1]) + 1)
        at = self._source.offset(line, column, LINE_END)
        return self._source.position(min(self._source.characters(at), len(self._source.text)))

    def of_runtime(self, line: int, column: int) -> tuple[int, int] | None:
        """The place of a position as V8 tells it: lines as in ECMA-262, columns in UTF-16 units.

        None where the text has no such line.
        """
        if not 1 <= line <= len(self._text.starts(_LANGUAGE_LINE_END)):
            return None
        return self.of_unit(self._text.offset(line, column, _LANGUAGE_LINE_END))

    def _source_map(self) -> SourceMap | None:
        if self._may_have_map:
            self._may_have_map = False
            self._map = SourceMap.inside(self._text.text)
        return self._map


_LF = re.compile(r"\n")
