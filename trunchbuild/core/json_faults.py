"""Finds the first fault of a text that is not strict JSON. Slow and exact; `strict_json` asks only after a refusal."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn

from trunchbuild.core.ecmascript import exact_integer, number_text

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_WORD = re.compile(r"-?[A-Za-z]+|[^\s,:\]}]{1,20}")
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = ("true", "false", "null")


@dataclass(frozen=True, slots=True)
class JsonFault:
    """What stands at `offset` (characters from 0) of the text, inside the value at `pointer` (RFC 6901)."""

    offset: int
    pointer: str
    message: str
    expected: str | None = None
    got: str | None = None
    hint: str | None = None


class _Found(Exception):  # noqa: N818 - control flow inside this module
    def __init__(self, fault: JsonFault) -> None:
        self.fault = fault
        super().__init__(fault.message)


@dataclass(slots=True)
class _Frame:
    """An array or object that is still open; `key` is the member or index now read."""

    opener: str
    key: str | int = 0
    seen: dict[str, int] = field(default_factory=dict)


def first_fault(text: str, max_depth: int) -> JsonFault:
    """The first fault of a text that the parser refused."""
    reader = _Reader(text, max_depth)
    try:
        reader.read()
    except _Found as found:
        return found.fault
    return JsonFault(0, "", "not strict JSON")


class _Reader:
    """Walks the text once with a stack of its own, so that no nesting can exhaust Python's."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.at = 0
        self.frames: list[_Frame] = []

    def read(self) -> None:
        """Read one document; ends with _Found at the first fault."""
        while True:
            self._value()
            while self._close_or_next():
                if not self.frames:
                    self._skip()
                    if self.at < len(self.text):
                        self._fail("data after the end of the JSON value", got=self._word())
                    return

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def _peek(self) -> str:
        self._skip()
        return self.text[self.at : self.at + 1]

    def _word(self) -> str:
        match = _WORD.match(self.text, self.at)
        shown = match.group()[:20] if match else self.text[self.at : self.at + 1]
        return repr(shown) if shown else "the end of the text"

    def _pointer(self) -> str:
        keys = (str(frame.key).replace("~", "~0").replace("/", "~1") for frame in self.frames)
        return "".join(f"/{key}" for key in keys)

    def _fail(
        self, message: str, *, offset: int | None = None, expected: str | None = None, got: str | None = None,
        hint: str | None = None,
    ) -> NoReturn:  # fmt: skip
        raise _Found(JsonFault(self.at if offset is None else offset, self._pointer(), message, expected, got, hint))

    def _value(self) -> None:
        """Read a scalar whole, or enter arrays and objects down to the first scalar or empty one."""
        while True:
            char = self._peek()
            if char not in ("{", "["):
                self._scalar(char)
                return
            if len(self.frames) == self.max_depth:
                self._fail("nested too deeply", expected=f"at most {self.max_depth} levels")
            self.at += 1
            following = self._peek()
            self.frames.append(_Frame(char))
            if following == ("}" if char == "{" else "]"):
                return
            if char == "{":
                self._key()

    def _close_or_next(self) -> bool:
        """After a value: True when it ended (and perhaps closed its parent), False when another value follows."""
        if not self.frames:
            return True
        frame = self.frames[-1]
        closer = "}" if frame.opener == "{" else "]"
        char = self._peek()
        if char == closer:
            self.at += 1
            self.frames.pop()
            return True
        if char != ",":
            self._fail("not JSON", expected=f"',' or '{closer}'", got=self._word())
        self.at += 1
        if frame.opener == "{":
            self._key()
        else:
            assert isinstance(frame.key, int)
            frame.key += 1
        return False

    def _key(self) -> None:
        frame = self.frames[-1]
        if self._peek() != '"':
            self._fail("not JSON", expected="a key in double quotes", got=self._word(), hint=_QUOTE_HINT)
        start = self.at
        frame.key = ""
        key = self._string()
        frame.key = key
        if key in frame.seen:
            first = self.text.count("\n", 0, frame.seen[key]) + 1
            column = frame.seen[key] - self.text.rfind("\n", 0, frame.seen[key])
            self._fail(f"duplicate key {key!r}", offset=start, hint=f"it stands first at line {first}, column {column}")
        frame.seen[key] = start
        if self._peek() != ":":
            self._fail("not JSON", expected="':'", got=self._word())
        self.at += 1

    def _scalar(self, char: str) -> None:
        if char == '"':
            self._string()
            return
        number = _NUMBER.match(self.text, self.at)
        if number:
            self._number(number.group())
            self.at = number.end()
            return
        for word in _CONSTANTS:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return
        if self.text.startswith(("NaN", "Infinity", "-Infinity"), self.at):
            self._fail("not a JSON number", expected="a finite number", got=self._word())
        hint = _QUOTE_HINT if char == "'" else None
        self._fail("not JSON", expected="a value", got=self._word(), hint=hint)

    def _number(self, literal: str) -> None:
        shown = literal if len(literal) <= 40 else f"{literal[:20]}... ({len(literal)} characters)"
        if literal.lstrip("-").isdigit():
            try:
                exact_integer(literal)
            except ValueError:
                double = float(literal)
                kept = number_text(double) if math.isfinite(double) else str(double)
                self._fail(
                    "an integer that a double cannot keep",
                    expected=f"an integer that stays itself (this one becomes {kept})",
                    got=shown,
                    hint="write it as a string",
                )
        elif not math.isfinite(float(literal)):
            self._fail("a number beyond the range of a double", got=shown)

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        assert match is not None
        end = match.end()
        if self.text[end : end + 1] != '"':
            offset, self.at = self.at, end
            if end == len(self.text):
                self._fail("a string without its closing quote", offset=offset)
            if self.text[end] == "\\":
                self._fail("not JSON", expected="a valid escape", got=repr(self.text[end : end + 2]))
            self._fail("a control character in a string", expected="its escape", got=repr(self.text[end]))
        raw = self.text[self.at + 1 : end]
        value = _unescape(raw)
        for lone in re.finditer("[\ud800-\udfff]", value):
            self._fail("a lone surrogate", offset=self.at, got=f"\\u{ord(lone.group()):04x}")
        self.at = end + 1
        return value


def _unescape(raw: str) -> str:
    if "\\" not in raw:
        return raw

    def replace(match: re.Match[str]) -> str:
        digits, short = match.groups()
        return chr(int(digits, 16)) if digits else _SHORT_ESCAPES.get(short, short)

    units = _ESCAPE.sub(replace, raw)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


_QUOTE_HINT = "JSON knows double quotes only"
