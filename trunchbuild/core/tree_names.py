"""Which names a tree may hold on the way to a needed file, and which paths may be asked for.

A tree object holds any bytes as names. Names that a file system, a shell or another checkout would read differently are
refused: the same commit would not mean the same files everywhere. The dangerous ones are those of Git's own checks
(`git fsck`: hasDot, hasDotdot, hasDotgit, duplicateEntries; CVE-2014-9390, CVE-2019-1352).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from trunchbuild.errors import BadInputError

# Code points that HFS+ ignores in file names (Git's utf8.c, next_hfs_char).
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_DOT_GIT = re.compile(r"(?:\.git|git~[0-9]+)\Z")


def _is_dot_git(name: str) -> bool:
    """Windows drops dots and spaces at the end, and `git~1` is the short name of `.git` there."""
    return _DOT_GIT.match(_IGNORED_BY_HFS.sub("", name).rstrip(". ").lower()) is not None


_RULES: tuple[tuple[Callable[[str], bool], str], ...] = (
    (lambda name: name == "", "is empty"),
    (lambda name: name in {".", ".."}, "means another folder"),
    (lambda name: "/" in name, "holds a slash"),
    (lambda name: "\\" in name, "holds a backslash, which divides folders on Windows"),
    (lambda name: ":" in name, "holds a colon, which Windows reads as a drive or a stream"),
    (lambda name: any(unicodedata.category(c) == "Cc" for c in name), "holds a control character"),
    (_is_dot_git, "is read as `.git` by some file system"),
)


class HostileTreeError(BadInputError):
    """A name in the commit's tree is refused."""

    slug = "hostile-tree"


def name_fault(name: bytes) -> str | None:
    """Why this tree entry's name is refused, or None for a good name."""
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        return "is not UTF-8"
    for refused, reason in _RULES:
        if refused(text):
            return reason
    return None


def folded(name: str) -> str:
    """What a file system that ignores letter case and Unicode forms makes of a name."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def collisions(name: str, others: Iterable[bytes]) -> list[str]:
    """The names among `others` that are not `name` but fall together with it on some file systems, sorted."""
    wanted = folded(name)
    found = set()
    for other in others:
        try:
            text = other.decode("utf-8")
        except UnicodeDecodeError:
            continue
        if text != name and folded(text) == wanted:
            found.add(text)
    return sorted(found)


def path_parts(path: str) -> list[str]:
    """Divide a repository path that a benchmark asks for.

    Raises:
        BadInputError: The path is absolute, leaves the repository, is not in its plain form, or no repository holds it.
    """
    if path.startswith("/"):
        raise BadInputError(
            "an absolute path", place=path, expected="a path relative to the repository's root", got=repr(path)
        )
    parts = path.split("/")
    if ".." in parts:
        raise BadInputError("the path leaves its folder", place=path, expected="no `..`", got=repr(path))
    for part in parts:
        if part in {"", "."}:
            raise BadInputError(
                "not a plain path", place=path, expected="names divided by single slashes", got=repr(path)
            )
        try:
            encoded = part.encode("utf-8")
        except UnicodeEncodeError:
            raise BadInputError("a path that is not Unicode", place=ascii(path)) from None
        if fault := name_fault(encoded):
            raise HostileTreeError(f"the name `{part}` {fault}", place=path)
    return parts
