"""A read-only view of a benchmark repository's files, whatever holds them (a commit, a plain folder, a release)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


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
        """Whether a regular file stands at this exact path (letter case counts on every file system)."""
        ...

    def prefetch(self, paths: Iterable[str]) -> None:
        """Say which files will be read, so that a remote tree fetches them in one request; missing ones are no error."""
        ...

    def paths(self) -> Iterable[str]:
        """Every regular file's path, sorted by code point; used to find configs and nearest names for hints."""
        ...
