"""Read the members of a parsed JSON object strictly: each once, of its type, and no unknown ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.errors import BadInputError

T = TypeVar("T")

_MAX_SAFE_INTEGER = 2**53 - 1


def kind_of(value: Json) -> str:
    """The JSON name of a value's type, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, Mapping) else "an array"


class Fields:
    """One JSON object while it is read; `place` stands in every message.

    Every getter takes its member out; `end` then refuses what nobody asked for, so that an unknown member can never be
    dropped in silence between reading a document and writing it again.
    """

    __slots__ = ("_place", "_rest")

    def __init__(self, value: Json, place: str) -> None:
        if not isinstance(value, Mapping):
            raise BadInputError("wrong type", place=place, expected="an object", got=kind_of(value))
        self._rest: dict[str, Json] = dict(value)
        self._place = place

    def has(self, name: str) -> bool:
        """Whether the member is there and still unread."""
        return name in self._rest

    def names(self) -> list[str]:
        """The members that are still unread."""
        return list(self._rest)

    def place(self, name: str) -> str:
        """Where a member stands, for messages."""
        return f"{self._place}/{name}"

    def take(self, name: str) -> Json:
        """A member of any type.

        Raises:
            BadInputError: It is missing.
        """
        if name not in self._rest:
            raise BadInputError("a member is missing", place=self._place, expected=f"`{name}`")
        return self._rest.pop(name)

    def text(self, name: str) -> str:
        """A member that is a string."""
        value = self.take(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a string", kind_of(value))
        return value

    def literal(self, name: str, expected: str) -> None:
        """A member that must be exactly this string."""
        value = self.text(name)
        if value != expected:
            raise self.wrong(name, f"`{expected}`", f"`{value}`")

    def integer(self, name: str, minimum: int = 0) -> int:
        """A member that is an integer of at least `minimum`; within what a double holds exactly."""
        value = self.take(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.wrong(name, "an integer", kind_of(value))
        if not minimum <= value <= _MAX_SAFE_INTEGER:
            raise self.wrong(name, f"an integer from {minimum} to {_MAX_SAFE_INTEGER}", str(value))
        return value

    def number(self, name: str) -> int | float:
        """A member that is a number."""
        value = self.take(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(name, "a number", kind_of(value))
        return value

    def boolean(self, name: str) -> bool:
        """A member that is true or false."""
        value = self.take(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "a boolean", kind_of(value))
        return value

    def mapping(self, name: str) -> JsonObject:
        """A member that is an object."""
        value = self.take(name)
        if not isinstance(value, Mapping):
            raise self.wrong(name, "an object", kind_of(value))
        return value

    def items(self, name: str) -> Sequence[Json]:
        """A member that is an array."""
        value = self.take(name)
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.wrong(name, "an array", kind_of(value))
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A member that is an array of strings."""
        texts: list[str] = []
        for index, item in enumerate(self.items(name)):
            if not isinstance(item, str):
                raise self.wrong(f"{name}/{index}", "a string", kind_of(item))
            texts.append(item)
        return tuple(texts)

    def optional(self, name: str, read: Callable[[str], T]) -> T | None:
        """A member that may be absent; `read` is one of the other getters. `null` is not absent."""
        return read(name) if name in self._rest else None

    def wrong(self, name: str, expected: str, got: str) -> BadInputError:
        """The error for one member of a wrong value."""
        return BadInputError("wrong value", place=self.place(name), expected=expected, got=got)

    def end(self) -> None:
        """Refuse the members that nobody took.

        Raises:
            BadInputError: There are some; the first one by name.
        """
        if self._rest:
            raise BadInputError("unknown member", place=self.place(min(self._rest)))
