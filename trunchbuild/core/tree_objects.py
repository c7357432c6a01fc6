"""Git's commit and tree objects, parsed from their raw bytes with care.

The bytes have been checked against their object id before they come here; that id says nothing about their sense.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.revision import HEX_LENGTH, ObjectFormat
from trunchbuild.core.tree import missing_file
from trunchbuild.core.tree_names import NameIndex
from trunchbuild.errors import BadInputError

EntryKind = Literal["file", "folder", "link", "submodule"]

_KINDS: dict[bytes, EntryKind] = {
    b"100644": "file",
    b"100755": "file",
    b"100664": "file",  # written by Git before 2005-05; `git fsck` knows it
    b"40000": "folder",
    b"040000": "folder",  # zero-padded by some old tools
    b"120000": "link",
    b"160000": "submodule",
}


class MalformedObjectError(BadInputError):
    """An object's bytes are those its id names, and make no sense."""

    slug = "malformed-object"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One line of a tree: what it is, its raw name, the id of its object in hex."""

    kind: EntryKind
    name: bytes
    object_id: str


def parse_tree(raw: bytes, object_format: ObjectFormat, *, place: str) -> list[TreeEntry]:
    """Read a tree object: `<mode> <name> NUL <id>` again and again (`man gitformat-pack` has no more to say).

    Raises:
        MalformedObjectError: The bytes are cut short or hold an unknown mode.
    """
    width = HEX_LENGTH[object_format] // 2
    entries: list[TreeEntry] = []
    at = 0
    while at < len(raw):
        space = raw.find(b" ", at, at + 8)
        end = raw.find(b"\0", space + 1) if space >= 0 else -1
        if end < 0 or end + 1 + width > len(raw):
            raise MalformedObjectError("a tree object is cut short", place=place)
        mode = raw[at:space]
        kind = _KINDS.get(mode)
        if kind is None:
            raise MalformedObjectError(
                "unknown mode in a tree object",
                place=place,
                expected="a file, folder, link or submodule",
                got=repr(mode),
            )
        entries.append(TreeEntry(kind, raw[space + 1 : end], raw[end + 1 : end + 1 + width].hex()))
        at = end + 1 + width
    return entries


class Tree:
    """One tree object, parsed; finds entries by name."""

    def __init__(self, entries: Sequence[TreeEntry]) -> None:
        self.entries = tuple(entries)
        self._names = NameIndex(entry.name for entry in entries)
        self._by_name = {entry.name: entry for entry in reversed(entries)}

    def get(self, part: str) -> TreeEntry | None:
        """The first entry with exactly this name, however unsafe."""
        return self._by_name.get(part.encode("utf-8"))

    def pick(self, part: str, *, place: str) -> TreeEntry:
        """The entry with exactly this name, where it is safely unique.

        Raises:
            MissingFileError: There is none; the hint names the nearest.
            HostileTreeError: The name stands there twice, or another one falls together with it on some file system.
        """
        entry = self.get(part)
        if entry is None:
            raise missing_file(place, part, self._names.good())
        self._names.require_unique(part, place=place)
        return entry


def tree_of_commit(raw: bytes, object_format: ObjectFormat, *, place: str) -> str:
    """The tree id in a commit object's first line.

    Raises:
        MalformedObjectError: There is none.
    """
    found = re.match(rb"tree ([0-9a-f]{%d})\n" % HEX_LENGTH[object_format], raw)
    if not found:
        raise MalformedObjectError("a commit object without a tree", place=place)
    return found.group(1).decode()


def target_of_tag(raw: bytes, object_format: ObjectFormat, *, place: str) -> str:
    """The id that an annotated tag points to.

    Raises:
        MalformedObjectError: There is none.
    """
    found = re.match(rb"object ([0-9a-f]{%d})\n" % HEX_LENGTH[object_format], raw)
    if not found:
        raise MalformedObjectError("a tag object without a target", place=place)
    return found.group(1).decode()
