"""Plain files outside any repository: what a command reads by name and what it writes for its user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file as it shall be."""

    path: Path
    content: Iterable[bytes]
    """In chunks of any size; read once."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A file that is not on disk as it would be written."""

    path: Path
    line: int | None
    """The first line that differs, from 1; None if there is no such file."""
    expected: str = ""
    got: str = ""
    """What would stand and what stands around the first byte that differs, within its line; empty at a file's end."""


class Files(Protocol):
    """The user's own files."""

    def current_folder(self) -> Path:
        """The folder that a user's relative paths start at; absolute, without links."""
        ...

    def repository_root(self, start: Path) -> Path | None:
        """The repository that a folder belongs to; absolute, without links.

        The nearest folder at or above `start` that holds `.git`; where there is none, the nearest that holds a
        benchmark config; else None.
        """
        ...

    def resolve(self, path: Path) -> Path:
        """The absolute path, without `.` and `..`; links in its folders are followed, the file itself is not."""
        ...

    def is_folder(self, path: Path) -> bool:
        """Whether a folder stands there."""
        ...

    def read(self, path: Path) -> bytes:
        """The whole of a file.

        Raises:
            BadInputError: There is none, or it is no regular file.
        """
        ...

    def replace(self, files: Sequence[NewFile]) -> None:
        """Write files, each by a temporary file beside it, fsync and rename; missing folders are made.

        All temporary files are complete before the first rename, so that a full disk or an error in `content` leaves
        every old file as it was and no new one behind. What a killed process left of the same files is removed.

        Raises:
            MachineError: A file cannot be written. One that is there and is no regular file (a folder, a device, a
                link) is never replaced.
        """
        ...

    def write_folder(self, folder: Path, files: Sequence[NewFile]) -> None:
        """Make a folder that holds these files, all below it; it gets its name when it is whole and on the disk.

        An empty folder may stand there. Where it cannot be replaced (a shell stands in it, something is mounted there)
        the files get their names one by one, the first of `files` last.

        Raises:
            MachineError: It cannot be written; nothing is left behind.
        """
        ...

    def alone_in(self, folder: Path) -> AbstractContextManager[None]:
        """Wait until no other process is in this block for this folder, which is made where it is missing.

        Raises:
            MachineError: The folder cannot be made or opened.
        """
        ...

    def differences(self, files: Sequence[NewFile]) -> list[Difference]:
        """Compare instead of writing: the files whose bytes on disk are other ones, or which are missing."""
        ...

    def exists(self, path: Path) -> bool:
        """Whether anything stands there; a link to nothing counts."""
        ...

    def lines(self, path: Path) -> Iterator[bytes]:
        """The lines of a file without their LF, read one by one; a last line without LF counts.

        Raises:
            BadInputError: As for `read`.
        """
        ...

    def remove(self, paths: Sequence[Path]) -> None:
        """Remove files; one that is not there is no error.

        Raises:
            MachineError: One cannot be removed.
        """
        ...

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it, if they are not there.

        Raises:
            MachineError: It cannot be made, or a file stands there.
        """
        ...

    def move_aside(self, path: Path) -> Path:
        """Rename a folder to the first free name `NAME.old-1`, `NAME.old-2` ... beside it, and return that."""
        ...
