"""Reads what an author declared: collects every fault with its place instead of stopping at the first."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches

from trunchbuild.core.fields import kind_of
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.errors import Fault

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that was probably meant; letter case and separators count little."""
    plain = {_plain(candidate): candidate for candidate in known}
    found = get_close_matches(_plain(name), plain, n=1)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def pointer_token(key: str) -> str:
    """One key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def unknown_key(place: str, key: str, known: Sequence[str]) -> Fault:
    """The fault of a key that nobody reads."""
    near = nearest(key, known)
    listed = ", ".join(f"`{name}`" for name in known)
    hint = f"did you mean `{near}`?" if near else None
    shown = key if len(key) <= 60 else f"{key[:40]}..."
    return Fault(place, f"unknown key `{shown}`", f"one of {listed}", hint=hint)


class Declared:
    """One object that an author wrote. Getters give None for a member that is absent or wrong; wrong ones are noted."""

    __slots__ = ("_at", "_file", "_value", "faults")

    def __init__(self, value: JsonObject, file: str, known: Sequence[str], faults: list[Fault], at: str = "") -> None:
        self._value, self._file, self._at = value, file, at
        self.faults = faults
        faults.extend(unknown_key(self.place(key), key, known) for key in value if key not in known)

    def place(self, name: str | tuple[str, int]) -> str:
        """Where a member, or an item of one that is a list, stands: file and JSON pointer."""
        key, index = (name, "") if isinstance(name, str) else (name[0], f"/{name[1]}")
        return f"{self._file} {self._at}/{pointer_token(key)}{index}"

    def wrong(self, name: str | tuple[str, int], expected: str, value: Json, hint: str | None = None) -> None:
        """Note that a member is not what it should be."""
        got = kind_of(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            got = str(value)
        elif isinstance(value, str) and len(value) <= 60:
            got = repr(value)
        self.faults.append(Fault(self.place(name), "wrong value", expected, got, hint))

    def has(self, name: str) -> bool:
        """Whether the member is there, whatever its value."""
        return name in self._value

    def get(self, name: str) -> Json:
        """The member as it stands; None if it is absent."""
        return self._value.get(name)

    def required(self, name: str, expected: str, hint: str | None = None) -> bool:
        """Whether a member that must be there is there; its absence is noted."""
        if name not in self._value:
            self.faults.append(Fault(self.place(name), "missing", expected, hint=hint))
        return name in self._value

    def text(self, name: str, *, filled: bool = False) -> str | None:
        """A string; with `filled` one that holds more than white space."""
        if name not in self._value:
            return None
        value = self._value[name]
        expected = "a string that is not empty" if filled else "a string"
        if not isinstance(value, str) or (filled and not value.strip()):
            self.wrong(name, expected, value)
            return None
        return value

    def line(self, name: str) -> str | None:
        """A required string of one line."""
        if not self.required(name, "a string"):
            return None
        value = self.text(name, filled=True)
        if value is not None and _CONTROL.search(value):
            self.wrong(name, "a string without control characters", value)
            return None
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of filled strings; empty when absent."""
        value = self._value.get(name, ())
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.wrong(name, "a list of strings", value)
            return ()
        for index, item in enumerate(value):
            if not isinstance(item, str) or not item.strip():
                self.wrong((name, index), "a string that is not empty", item)
        return tuple(item for item in value if isinstance(item, str))

    def mapping(self, name: str, expected: str = "an object") -> JsonObject | None:
        """An object; None when absent or wrong."""
        if name not in self._value:
            return None
        value = self._value[name]
        if not isinstance(value, Mapping):
            self.wrong(name, expected, value)
            return None
        return value

    def inner(self, name: str, value: JsonObject, known: Sequence[str]) -> Declared:
        """An object inside this one, with a list of the keys it may hold."""
        return Declared(value, self._file, known, self.faults, f"{self._at}/{pointer_token(name)}")

    def path(self, name: str | tuple[str, int], value: Json, base: str) -> str | None:
        """A path written relative to the file `base`, as a repository path."""
        if not isinstance(value, str):
            self.wrong(name, "a path", value)
            return None
        problem = path_problem(value)
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(base), value)) if problem is None else ""
        if problem is None and (joined == ".." or joined.startswith("../")):
            problem = "a path that stays inside the repository"
        if problem is None and joined == ".":
            problem = "a path of a file"
        if problem is not None:
            self.wrong(name, problem, value, f"paths here are relative to {base}")
            return None
        return joined


def path_problem(written: str) -> str | None:
    """What a path that an author wrote should be instead, if it is none that every system reads alike."""
    if not written or written.endswith("/"):
        return "a path of a file"
    if written.startswith("/") or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", written):
        return "a relative path"
    if "\\" in written:
        return "a path with `/` between its parts"
    return "a path without control characters" if _CONTROL.search(written) else None
