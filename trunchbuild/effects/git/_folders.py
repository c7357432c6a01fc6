"""A folder of Git objects: where in it an object is (`man gitrepository-layout`)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from dulwich.object_format import OBJECT_FORMATS
from dulwich.objects import RawObjectID
from dulwich.pack import PackIndex, load_pack_index

from trunchbuild.core.revision import HEX_LENGTH, ObjectFormat
from trunchbuild.effects.git._packed import PackedObjects
from trunchbuild.effects.git.api import CorruptRepositoryError

_MAX_ALTERNATES = 5
"""Depth of alternates of alternates, as in Git."""
_MAX_ALTERNATES_BYTES = 1 << 20

Place = tuple[PackedObjects, int] | str
"""A pack and the offset in it, or a loose file."""


def require_file(file: Path, most_bytes: int) -> None:
    """Refuse a pipe or a device where Git keeps a file, and one too large to be what it should be.

    A missing file, or a folder, is another's business.

    Raises:
        CorruptRepositoryError: It is neither.
    """
    try:
        status = file.stat()
    except OSError:
        return
    if stat.S_ISDIR(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
        raise CorruptRepositoryError("a pipe or a device in the repository", place=str(file), expected="a file")
    if status.st_size > most_bytes:
        raise CorruptRepositoryError(
            "a file of the repository is too large",
            place=str(file),
            expected=f"at most {most_bytes:,} bytes",
            got=f"{status.st_size:,}",
        )


class _Pack:
    """A pack and its index."""

    def __init__(self, base: Path, object_format: ObjectFormat) -> None:
        for suffix in (".idx", ".pack"):
            require_file(Path(f"{base}{suffix}"), 1 << 60)
        self._index: PackIndex = load_pack_index(f"{base}.idx", OBJECT_FORMATS[object_format])
        try:
            self.objects = PackedObjects(f"{base}.pack", HEX_LENGTH[object_format] // 2, self.offset_of)
        except BaseException:
            self._index.close()
            raise

    def offset_of(self, raw: bytes) -> int | None:
        """Where the object with this raw id is."""
        try:
            return self._index.object_offset(RawObjectID(raw))
        except KeyError:
            return None

    def ids_with_prefix(self, prefix: str) -> Iterator[str]:
        """Ids in hex; of an odd number of digits the last is compared here."""
        for raw in self._index.iter_prefix(bytes.fromhex(prefix[: len(prefix) // 2 * 2])):
            if raw.hex().startswith(prefix):
                yield raw.hex()

    def close(self) -> None:
        self.objects.close()
        self._index.close()


class Store:
    """One folder of objects with those that its `info/alternates` name.

    Each folder is one store, however often alternates name it: few folders that name one another make endless paths.
    Whatever folder an object comes from, its bytes are those of its id.
    """

    def __init__(self, path: Path, object_format: ObjectFormat) -> None:
        self.path = path
        self.object_format = object_format
        self._folders = list(_with_alternates(path, 0, set()))
        self._packs: dict[Path, _Pack] = {}

    def find(self, object_id: str) -> Place | None:
        """Where an object is, as far as is known; see `look_again`."""
        raw = bytes.fromhex(object_id)
        for pack in self._packs.values():
            offset = pack.offset_of(raw)
            if offset is not None:
                return pack.objects, offset
        for folder in self._folders:
            loose = f"{os.fspath(folder)}/{object_id[:2]}/{object_id[2:]}"
            if os.path.isfile(loose):  # noqa: PTH113 - a tenth of the time of Path
                return loose
        return None

    def look_again(self) -> None:
        """Open packs that are new, and forget those that are gone: somebody may run `git gc` just now."""
        there = {Path(name[:-5]) for folder in self._folders for name in _packs_in(folder)}
        for base in self._packs.keys() - there:
            self._packs.pop(base).close()
        for base in sorted(there - self._packs.keys()):
            try:
                self._packs[base] = _Pack(base, self.object_format)
            except FileNotFoundError:
                continue

    def ids_with_prefix(self, prefix: str) -> Iterator[str]:
        """Full ids in hex that begin with these digits (at least two), perhaps more than once."""
        self.look_again()
        for pack in self._packs.values():
            yield from pack.ids_with_prefix(prefix)
        for folder in self._folders:
            try:
                names = [file.name for file in (folder / prefix[:2]).iterdir()]
            except (FileNotFoundError, NotADirectoryError):
                continue
            yield from (prefix[:2] + name for name in names if name.startswith(prefix[2:]))

    def close(self) -> None:
        """Close the packs."""
        while self._packs:
            self._packs.popitem()[1].close()


def _packs_in(folder: Path) -> Iterator[str]:
    """Paths of the packs that have an index."""
    try:
        names = {file.name for file in (folder / "pack").iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        if name.endswith(".pack") and f"{name[:-5]}.idx" in names:
            yield f"{os.fspath(folder)}/pack/{name}"


def _with_alternates(folder: Path, depth: int, seen: set[str]) -> Iterator[Path]:
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    yield folder
    file = folder / "info" / "alternates"
    require_file(file, _MAX_ALTERNATES_BYTES)
    if depth >= _MAX_ALTERNATES or not file.is_file():
        return
    for line in file.read_bytes().splitlines():
        other = folder / os.fsdecode(line)
        if line and not line.startswith(b"#") and other.is_dir():
            yield from _with_alternates(other, depth + 1, seen)
