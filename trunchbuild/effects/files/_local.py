"""The file system of this machine."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from trunchbuild.core.config_choice import CONFIG_NAMES
from trunchbuild.effects.files import _write
from trunchbuild.effects.files.api import Difference, NewFile
from trunchbuild.errors import BadInputError, MachineError


class LocalFiles:
    """`Files` on the local file system."""

    def current_folder(self) -> Path:
        """See `Files`."""
        return Path(os.path.realpath(Path.cwd()))

    def repository_root(self, start: Path) -> Path | None:
        """See `Files`."""
        folder = Path(os.path.realpath(start))
        above = (folder, *folder.parents)
        for candidate in above:
            if os.path.lexists(candidate / ".git"):
                return candidate
        for candidate in above:
            if any((candidate / name).is_file() for name in CONFIG_NAMES):
                return candidate
        return None

    def resolve(self, path: Path) -> Path:
        """See `Files`."""
        absolute = Path(os.path.normpath(Path.cwd() / path))
        return Path(os.path.realpath(absolute.parent)) / absolute.name

    def is_folder(self, path: Path) -> bool:
        """See `Files`."""
        return path.is_dir()

    def read(self, path: Path) -> bytes:
        """See `Files`."""
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                raise BadInputError("not a regular file", place=str(path), got=_write.kind_of(mode))
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise BadInputError("no such file", place=str(path)) from None
        except OSError as error:
            raise MachineError(f"cannot be read: {error.strerror}", place=str(path)) from None
        except ValueError:
            raise BadInputError("no such file", place=str(path), got="a name with a NUL character") from None

    def replace(self, files: Sequence[NewFile]) -> None:
        """See `Files`."""
        _write.replace(files)

    def write_folder(self, folder: Path, files: Sequence[NewFile]) -> None:
        """See `Files`."""
        _write.write_folder(folder, files)

    @contextmanager
    def alone_in(self, folder: Path) -> Iterator[None]:
        """See `Files`."""
        with _write.folder_for(folder), _locked(folder):
            yield

    def differences(self, files: Sequence[NewFile]) -> list[Difference]:
        """See `Files`."""
        return [found for file in files if (found := _difference(file)) is not None]

    def exists(self, path: Path) -> bool:
        """See `Files`."""
        return os.path.lexists(path)

    def lines(self, path: Path) -> Iterator[bytes]:
        """See `Files`."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            raise BadInputError("no such file", place=str(path)) from None
        except OSError as error:
            raise MachineError(f"cannot be read: {error.strerror}", place=str(path)) from None
        with file:
            try:
                for line in file:
                    yield line.removesuffix(b"\n")
            except OSError as error:
                raise MachineError(f"cannot be read: {error.strerror}", place=str(path)) from None

    def remove(self, paths: Sequence[Path]) -> None:
        """See `Files`."""
        for path in paths:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise MachineError(f"cannot be removed: {error.strerror}", place=str(path)) from None

    def make_folder(self, path: Path) -> None:
        """See `Files`."""
        _write.make_folder(path)

    def move_aside(self, path: Path) -> Path:
        """See `Files`."""
        number = 1
        while os.path.lexists(aside := path.with_name(f"{path.name}.old-{number}")):
            number += 1
        try:
            return path.rename(aside)
        except OSError as error:
            raise MachineError(f"the folder cannot be moved: {error.strerror}", place=str(path)) from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process has the folder; the system gives up the lock of one that was killed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise MachineError(f"the folder cannot be opened: {error.strerror}", place=str(folder)) from None
    try:
        # A file system without locks is used by one process at a time, or at its users' risk.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


_SHOWN = 40
"""Bytes to either side of a difference that a message shows."""


def _around(text: bytes, position: int) -> str:
    """What stands at `position` of a text, within its line; its line feed is shown where it stands just there."""
    before = text[max(0, position - _SHOWN) : position].rpartition(b"\n")[2]
    after, feed, _ = text[position : position + _SHOWN].partition(b"\n")
    after = after or feed
    return (before + after).decode("utf-8", "replace").strip("\ufffd")


def _difference(file: NewFile) -> Difference | None:
    line = 1
    try:
        with file.path.open("rb") as there:
            for chunk in file.content:
                found = there.read(len(chunk))
                if found != chunk:
                    equal = next((n for n, (a, b) in enumerate(zip(found, chunk, strict=False)) if a != b), len(found))
                    line += chunk.count(b"\n", 0, equal)
                    return Difference(file.path, line, _around(chunk, equal), _around(found, equal))
                line += chunk.count(b"\n")
            more = there.read(_SHOWN)
            return Difference(file.path, line, "", _around(more, 0)) if more else None
    except OSError:
        return Difference(file.path, None)
