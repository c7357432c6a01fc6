"""The file system of this machine."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from trunchbuild.core.config_choice import CONFIG_NAMES
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
                raise BadInputError("not a regular file", place=str(path), got=_kind(mode))
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise BadInputError("no such file", place=str(path)) from None
        except OSError as error:
            raise MachineError(f"cannot be read: {error.strerror}", place=str(path)) from None
        except ValueError:
            raise BadInputError("no such file", place=str(path), got="a name with a NUL character") from None

    def replace(self, files: Sequence[NewFile]) -> None:
        """See `Files`."""
        for file in files:
            _refuse_other_than_regular(file.path)
        with ExitStack() as undo:
            pairs = [(_written_beside(file, undo), file.path) for file in files]
            for temporary, target in pairs:
                try:
                    temporary.replace(target)
                except OSError as error:
                    raise MachineError(f"cannot be written: {error.strerror}", place=str(target)) from None
            undo.pop_all()
        for folder in {file.path.parent for file in files}:
            _sync_folder(folder)

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
            for line in file:
                yield line.removesuffix(b"\n")

    def remove(self, paths: Sequence[Path]) -> None:
        """See `Files`."""
        for path in paths:
            path.unlink(missing_ok=True)

    def make_folder(self, path: Path) -> None:
        """See `Files`."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(f"the folder cannot be made: {error.strerror}", place=str(path)) from None

    def move_aside(self, path: Path) -> Path:
        """See `Files`."""
        number = 1
        while os.path.lexists(aside := path.with_name(f"{path.name}.old-{number}")):
            number += 1
        try:
            return path.rename(aside)
        except OSError as error:
            raise MachineError(f"the folder cannot be moved: {error.strerror}", place=str(path)) from None


def _written_beside(file: NewFile, undo: ExitStack) -> Path:
    """Write the content to a temporary file in the same folder; `undo` removes it and the folders made for it."""
    temporary = file.path.with_name(f".{file.path.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        _make_folders(file.path.parent, undo)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        undo.callback(_remove, temporary)
        with open(descriptor, "wb") as out:  # noqa: PTH123 - a descriptor, opened exclusively
            for chunk in file.content:
                out.write(chunk)
            out.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise MachineError(f"cannot be written: {error.strerror}", place=str(file.path)) from None
    return temporary


def _make_folders(folder: Path, undo: ExitStack) -> None:
    missing = [candidate for candidate in (folder, *folder.parents) if not candidate.exists()]
    for candidate in reversed(missing):
        with suppress(FileExistsError):
            candidate.mkdir()
            undo.callback(_remove_folder, candidate)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _remove_folder(path: Path) -> None:
    with suppress(OSError):
        path.rmdir()


def _refuse_other_than_regular(path: Path) -> None:
    """A rename would put a regular file in the place of a device or a link, as root even of `/dev/null`."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise MachineError(
            "not replaced", place=str(path), expected="a regular file, or nothing there yet", got=_kind(mode)
        )


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe"}
    return kinds.get(stat.S_IFMT(mode), "a special file")


def _sync_folder(folder: Path) -> None:
    """Make the renames last; a file system that cannot sync folders is no reason to fail."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
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
