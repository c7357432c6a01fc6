"""esprima2 with quick literals. Imported only where a module has to be read, since esprima2 takes 100 ms to import."""

from __future__ import annotations

import re
import warnings
from typing import Any

with warnings.catch_warnings():
    # It silences a kind of warning for the whole process while it is imported.
    from esprima.error_handler import Error
    from esprima.parser import Parser
    from esprima.scanner import RawToken, Scanner
    from esprima.token import Token

# A whole literal without line continuations. U+2028 and U+2029 may stand in strings since ES2019.
_STRING = {quote: re.compile(rf"{quote}[^{quote}\\\n\r]*(?:\\[^\n\r][^{quote}\\\n\r]*)*{quote}") for quote in "'\""}
_TEMPLATE = re.compile(r"[`}][^`\\$]*(?:(?:\\.|\$(?!\{))[^`\\$]*)*(`|\$\{)", re.DOTALL)
_BLANKS = re.compile(r"[ \t]+")
_LONG = 200
"""Longer literals are data: nobody asks for the value behind their escapes."""


class SyntaxProblem(Exception):  # noqa: N818 - the caller turns it into a value
    """esprima2 does not accept the text; `offset` in code points."""

    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        super().__init__(message)


def parse(text: str) -> Any:
    """The top-level statements of a module, each node with its `range` in code points.

    Raises:
        SyntaxProblem: The text is not accepted. Broken text may also raise faults of esprima2's own.
    """
    if text.startswith("#!"):
        # A hashbang is a comment, but esprima2 lets the first statement begin with it.
        text = f"//{text[2:]}"
    try:
        with warnings.catch_warnings():
            # To look at a regular expression it compiles the like in Python, which warns of sets that look nested.
            warnings.simplefilter("ignore", FutureWarning)
            parser = Parser("", {"range": True, "classProperties": True})
            _start_again(parser, text)
            return parser.parseModule().body
    except Error as error:
        raise SyntaxProblem(re.sub(r"^Line \d+: ", "", str(error.message)), int(error.index or 0)) from None


def _start_again(parser: Any, text: str) -> None:
    """`Parser.__init__` makes a plain scanner and reads the first token with it; do the same with the fast one."""
    parser.scanner = scanner = _FastScanner(text, parser.errorHandler)
    scanner.isModule = True
    for marker in (parser.startMarker, parser.lastMarker):
        marker.index, marker.line, marker.column = 0, scanner.lineNumber, 0
    parser.nextToken()
    marker.index, marker.line = scanner.index, scanner.lineNumber
    marker.column = scanner.index - scanner.lineStart


class _FastScanner(Scanner):  # type: ignore[misc]
    """Literals and indentation by regular expressions: esprima's own loops take 1.5 seconds for a megabyte."""

    source: str
    length: int
    index: int
    lineNumber: int  # noqa: N815 - esprima's name
    lineStart: int  # noqa: N815 - esprima's name
    curlyStack: list[str]  # noqa: N815 - esprima's name

    def scanStringLiteral(self) -> Any:  # noqa: N802
        """One string; short ones with escapes are left to esprima, which knows their values."""
        start = self.index
        found = _STRING[self.source[start]].match(self.source, start)
        if found is None or found.end() > self.length:
            return super().scanStringLiteral()
        raw = self.source[start + 1 : found.end() - 1]
        if "\\" in raw and len(raw) < _LONG and "\u2028" not in raw and "\u2029" not in raw:
            return super().scanStringLiteral()
        self.index = found.end()
        return self._token(Token.StringLiteral, start, raw, octal=False)

    def scanTemplate(self) -> Any:  # noqa: N802
        """One piece of a template: head, middle or tail."""
        start = self.index
        found = _TEMPLATE.match(self.source, start)
        if found is None or found.end() > self.length or found.end() - start < _LONG:
            return super().scanTemplate()
        head, tail = self.source[start] == "`", found.group(1) == "`"
        if not tail:
            self.curlyStack.append("${")
        if not head and self.curlyStack:
            self.curlyStack.pop()
        raw = self.source[start + 1 : found.start(1)]
        self.index = found.end()
        if "\n" in raw:
            self.lineNumber += raw.count("\n")
            self.lineStart = start + 1 + raw.rindex("\n") + 1
        return self._token(Token.Template, start, raw, cooked=raw, head=head, tail=tail)

    def scanComments(self) -> Any:  # noqa: N802
        """Step over indentation, then go on as before."""
        blanks = _BLANKS.match(self.source, self.index)
        if blanks is not None:
            self.index = blanks.end()
        return super().scanComments()

    def _token(self, kind: int, start: int, value: str, **more: object) -> Any:
        return RawToken(
            type=kind,
            value=value,
            lineNumber=self.lineNumber,
            lineStart=self.lineStart,
            start=start,
            end=self.index,
            **more,
        )
