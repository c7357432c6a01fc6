"""A read-only view of a benchmark repository's files, whatever holds them (a commit, a plain folder, a release)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from trunchbuild.core.tree_names import folded
from trunchbuild.errors import BadInputError

MAX_FILE_BYTES = 64 << 20
"""A larger file is refused: it would be held in memory several times over."""

_LFS_VERSIONS = (
    b"version https://git-lfs.github.com/spec/",
    # Names of its youth, which git-lfs still reads (its `lfs/pointer.go`).
    b"version https://hawser.github.com/spec/",
    b"version http://git-media.io/v/",
)
_LFS_MAX_BYTES = 1024
_ANNEX = re.compile(rb"/annex/objects/[A-Z0-9_]+-[^\n]*--[^\n]*\n?\Z")
_ANNEX_MAX_BYTES = 32 << 10


class MissingFileError(BadInputError):
    """No file stands at a path."""

    slug = "missing-file"


class NotAFileError(BadInputError):
    """A folder, symbolic link or submodule stands where a regular file is needed."""

    slug = "not-a-file"


class LfsPointerError(BadInputError):
    """The file is a Git LFS pointer; its content is not in the commit."""

    slug = "lfs-pointer"


class FileTooLargeError(BadInputError):
    """A file is over the size limit."""

    slug = "file-too-large"


class SourceTree(Protocol):
    """Files by repository path: relative, `/`-separated, no `.` or `..` parts, no leading slash."""

    def read(self, path: str) -> bytes:
        """Return the exact bytes of a regular file.

        Raises:
            BadInputError: The path is missing, leaves the repository, is not a regular file (symbolic link,
                submodule, folder, Git LFS pointer), is hostile, or is over the size limit; it names path and cure.
        """
        ...

    def is_file(self, path: str) -> bool:
        """Whether a regular file stands at this exact path (letter case counts on every file system).

        False for a path that `read` refuses as a path; `read` says why.
        """
        ...

    def prefetch(self, paths: Iterable[str]) -> None:
        """Say which files will be read, so that a remote tree fetches them at once; missing ones are no error."""
        ...

    def paths(self) -> Iterable[str]:
        """Every regular file's path, sorted by code point; used to find configs and nearest names for hints.

        Files under refused names are left out.
        """
        ...


def require_content(path: str, data: bytes) -> bytes:
    """Refuse a pointer to content elsewhere, whoever's filter did or did not run.

    The formats are those of git-lfs' `docs/spec.md` and git-annex' `doc/internals/pointer_file.mdwn`.

    Raises:
        LfsPointerError: `data` is a pointer.
    """
    # Only a short file can be one, and git-lfs reads it without the white space around it.
    if len(data) < _LFS_MAX_BYTES and data.lstrip().startswith(_LFS_VERSIONS) and b"\noid sha256:" in data:
        raise LfsPointerError(
            "the file is a Git LFS pointer; its content is not in the commit",
            place=path,
            got=data.split(b"\noid ", 1)[1][:71].decode("ascii", "replace"),
            hint=f"commit the content itself: git lfs migrate export --include={path}",
        )
    if len(data) < _ANNEX_MAX_BYTES and _ANNEX.match(data):
        raise LfsPointerError(
            "the file is a git-annex pointer; its content is not in the commit",
            place=path,
            hint=f"commit the content itself: git -c annex.largefiles=nothing add --force {path}",
        )
    return data


def require_size(path: str, size: int, limit: int = MAX_FILE_BYTES) -> None:
    """Refuse a file of more than `limit` bytes.

    Raises:
        FileTooLargeError: It is larger.
    """
    if size > limit:
        raise FileTooLargeError(
            "the file is too large",
            place=path,
            expected=f"at most {limit:,} bytes",
            got=f"{size:,} bytes",
            hint="divide it into several sources",
        )


def closest(wanted: str, names: Iterable[str]) -> str | None:
    """A hint that names the likeliest of `names`, or None where none is near."""
    import difflib  # noqa: PLC0415 - only where something failed

    known = list(names)
    alike = [name for name in known if folded(name) == folded(wanted)]
    if alike:
        return f"there is `{alike[0]}`: letter case and Unicode form count"
    near = difflib.get_close_matches(wanted, known, n=1, cutoff=0.75)
    return f"did you mean `{near[0]}`?" if near else None


def missing_file(path: str, part: str, siblings: Iterable[str]) -> MissingFileError:
    """The error for a path whose name `part` is not among its folder's `siblings`."""
    return MissingFileError("no such file", place=path, hint=closest(part, siblings))
