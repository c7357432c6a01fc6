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
# Most names: no rule below can refuse them.
_PLAIN = re.compile(rb"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z")
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
    if _PLAIN.match(name):
        return None
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
    # The Unicode Standard, 3.13, D145 (canonical caseless match), in composed form.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


class NameIndex:
    """The names in one folder, with those that fall together; built once, asked often."""

    def __init__(self, names: Iterable[bytes]) -> None:
        self._counts: dict[bytes, int] = {}
        self._folded: dict[str, list[str]] = {}
        for name in names:
            self._counts[name] = self._counts.get(name, 0) + 1
            if self._counts[name] > 1:
                continue
            try:
                text = name.decode("utf-8")
            except UnicodeDecodeError:
                continue
            self._folded.setdefault(folded(text), []).append(text)

    def __contains__(self, name: str) -> bool:
        return name.encode("utf-8") in self._counts

    def good(self) -> list[str]:
        """The names that are not refused."""
        return sorted(name.decode() for name in self._counts if name_fault(name) is None)

    def require_unique(self, name: str, *, place: str) -> None:
        """Refuse a name that stands here twice or falls together with another one on some file systems.

        Raises:
            HostileTreeError: It does.
        """
        count = self._counts.get(name.encode("utf-8"), 0)
        if count > 1:
            raise HostileTreeError(f"the name `{name}` stands {count} times in one tree", place=place)
        others = sorted(each for each in self._folded.get(folded(name), ()) if each != name)
        if others:
            raise HostileTreeError(
                f"the name `{name}` falls together with `{others[0]}` where letter case or Unicode forms do not count",
                place=place,
                hint="rename one of them",
            )


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
