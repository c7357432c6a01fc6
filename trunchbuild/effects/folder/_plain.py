"""A folder as a `SourceTree` by the rules that hold for a commit, so that a preview reads what a build would read."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trunchbuild.core.tree import (
    MAX_FILE_BYTES,
    MissingFileError,
    NotAFileError,
    missing_file,
    require_content,
    require_size,
)
from trunchbuild.core.tree_names import NameIndex, name_fault, path_parts
from trunchbuild.errors import BadInputError, MachineError

_MAX_PATHS = 1_000_000
_NO_LINK = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class PlainFolders:
    """The `Folders` door."""

    def __init__(self, *, max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self._max_bytes = max_file_bytes

    def open(self, root: Path) -> FolderTree:
        """Open `root`; see `Folders.open`."""
        try:
            if not root.is_dir():
                raise BadInputError("no such folder", place=str(root))
            return FolderTree(root.resolve(strict=True), self._max_bytes)
        except OSError as error:
            raise MachineError(f"cannot read the folder ({error.strerror})", place=str(root)) from error


class FolderTree:
    """Files below one folder. Each name on the way is opened from its parent's descriptor and never as a link."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._names: dict[tuple[int, int, int], NameIndex] = {}

    def read(self, path: str) -> bytes:
        """The file's bytes as they are; see `SourceTree.read`."""
        parts = path_parts(path)
        try:
            with self._folder(parts[:-1], path) as folder:
                self._require_name(folder, parts[-1], path)
                return require_content(path, _read_file(folder, parts[-1], path, self._max_bytes))
        except OSError as error:
            raise MachineError(f"cannot read the file ({error.strerror})", place=path) from error

    def is_file(self, path: str) -> bool:
        """Whether a regular file stands at this exact path; see `SourceTree.is_file`."""
        try:
            parts = path_parts(path)
            with self._folder(parts[:-1], path) as folder:
                if parts[-1] not in self._index(folder):
                    return False
                return stat.S_ISREG(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode)
        except (BadInputError, OSError):
            return False

    def prefetch(self, paths: Iterable[str]) -> None:
        """Nothing to do: the files are here."""

    def paths(self) -> Iterable[str]:
        """Every regular file's path, sorted; `.git` and other refused names are left out, links are not followed.

        Raises:
            BadInputError: There are more than a million.
            MachineError: The operating system refuses.
        """
        return tuple(sorted(self._walk()))

    def _walk(self) -> Iterator[str]:
        def fail(error: OSError) -> None:
            raise MachineError(f"cannot read the folder ({error.strerror})", place=str(error.filename)) from error

        count = 0
        for folder, folders, files in os.walk(self._root, onerror=fail):
            folders[:] = [name for name in folders if name_fault(os.fsencode(name)) is None]
            inside = Path(folder).relative_to(self._root)
            for name in files:
                if name_fault(os.fsencode(name)) is not None:
                    continue
                if stat.S_ISREG(os.lstat(Path(folder) / name).st_mode):
                    count += 1
                    if count > _MAX_PATHS:
                        raise BadInputError("the folder holds too many files", expected=f"at most {_MAX_PATHS:,}")
                    yield (inside / name).as_posix()

    @contextmanager
    def _folder(self, parts: list[str], path: str) -> Iterator[int]:
        """A descriptor of the folder that holds the file."""
        here = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for count, part in enumerate(parts, 1):
                self._require_name(here, part, path)
                try:
                    below = os.open(part, _NO_LINK | os.O_DIRECTORY, dir_fd=here)
                except OSError as error:
                    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                        raise _wrong_kind(here, part, path, "/".join(parts[:count]), "a folder") from error
                    raise
                os.close(here)
                here = below
            yield here
        finally:
            os.close(here)

    def _index(self, folder: int) -> NameIndex:
        """The folder's names, listed again when it changed."""
        status = os.fstat(folder)
        key = (status.st_dev, status.st_ino, status.st_mtime_ns)
        if key not in self._names:
            self._names[key] = NameIndex(os.fsencode(name) for name in os.listdir(folder))
        return self._names[key]

    def _require_name(self, folder: int, name: str, path: str) -> None:
        """Refuse a name that is not there letter by letter, or that another one falls together with."""
        index = self._index(folder)
        if name not in index:
            raise missing_file(path, name, index.good())
        index.require_unique(name, place=path)


def _read_file(folder: int, name: str, path: str, limit: int) -> bytes:
    try:
        # Without O_NONBLOCK the opening of a named pipe waits for a writer.
        descriptor = os.open(name, _NO_LINK | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise _wrong_kind(folder, name, path, path, "a regular file") from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _wrong_kind(folder, name, path, path, "a regular file")
        require_size(path, status.st_size, limit)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
        require_size(path, len(data), limit)
        return data
    finally:
        os.close(descriptor)


def _wrong_kind(folder: int, name: str, path: str, here: str, expected: str) -> BadInputError:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return MissingFileError("the file went away while it was read", place=path)
    kinds = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISREG, "a file"))
    got = next((word for test, word in kinds if test(mode)), "a device, pipe or socket")
    hints = {"a symbolic link": "copy the file itself: links are not followed", "a folder": "name a file in it"}
    return NotAFileError(f"`{here}` is {got}", place=path, expected=expected, got=got, hint=hints.get(got))
