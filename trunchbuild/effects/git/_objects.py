"""Objects by id out of a folder of Git objects: each re-hashed when read, none inflated past a limit."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import clear_frames
from typing import Literal, cast

from dulwich.object_format import OBJECT_FORMATS
from dulwich.object_store import BaseObjectStore, DiskObjectStore
from dulwich.objects import ObjectID
from dulwich.pack import Pack, PackFileDisappeared

from trunchbuild.core.revision import HEX_LENGTH, ObjectFormat
from trunchbuild.core.tree import MAX_FILE_BYTES, require_size
from trunchbuild.effects.git.api import CorruptRepositoryError
from trunchbuild.errors import MachineError, TrunchbuildError

ObjectKind = Literal["commit", "tree", "blob", "tag"]

_PACK_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _REF_DELTA = 6, 7
_MAX_ALTERNATES = 5
"""Depth of alternates of alternates, as in Git."""


class Store(DiskObjectStore):
    """dulwich's store with alternates of its own object format that end; dulwich's are always SHA-1 and may loop.

    Each folder is one store, however often alternates name it: few folders that name one another make endless paths.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        object_format: ObjectFormat,
        *,
        depth: int = 0,
        seen: set[str] | None = None,
    ) -> None:
        super().__init__(
            path,
            object_format=OBJECT_FORMATS[object_format],
            loose_object_size_limit=MAX_FILE_BYTES + 64,
        )
        self._format: ObjectFormat = object_format
        self._depth = depth
        self._seen = {os.path.realpath(path)} if seen is None else seen
        self._others: list[Store] | None = None

    @classmethod
    def init_at(cls, path: Path, object_format: ObjectFormat) -> Store:
        """Make an empty store in a new folder."""
        (path / "pack").mkdir(parents=True)
        (path / "info").mkdir()
        return cls(path, object_format)

    @property
    def alternates(self) -> list[BaseObjectStore]:
        """The stores that `objects/info/alternates` names."""
        if self._others is None:
            folders = _alternates(Path(self.path)) if self._depth < _MAX_ALTERNATES else []
            self._others = [
                Store(folder, self._format, depth=self._depth + 1, seen=self._seen)
                for folder in folders
                if self._is_new(folder)
            ]
        return cast("list[BaseObjectStore]", self._others)

    def _is_new(self, folder: Path) -> bool:
        real = os.path.realpath(folder)
        new = real not in self._seen
        self._seen.add(real)
        return new

    def close(self) -> None:
        """Close packs here and in the alternates."""
        for other in self._others or ():
            other.close()
        super().close()

    def everywhere(self) -> Iterator[Store]:
        """This store and its alternates."""
        yield self
        for other in self.alternates:
            yield from cast("Store", other).everywhere()


def _alternates(objects: Path) -> list[Path]:
    """The folders that `info/alternates` names and that exist (`man gitrepository-layout`)."""
    try:
        lines = (objects / "info" / "alternates").read_bytes().splitlines()
    except FileNotFoundError:
        return []
    named = [objects / os.fsdecode(line) for line in lines if line and not line.startswith(b"#")]
    return [folder for folder in named if folder.is_dir()]


class ObjectReader:
    """Reads objects by id. Not for threads."""

    def __init__(
        self,
        store: Store,
        object_format: ObjectFormat,
        *,
        max_bytes: int = MAX_FILE_BYTES,
        missing_hint: str | None = None,
    ) -> None:
        """`max_bytes` is what one object may have."""
        self.store = store
        self.object_format: ObjectFormat = object_format
        self.max_bytes = max_bytes
        self.missing_hint = missing_hint
        self._stores = list(store.everywhere())
        self._packs: list[Pack] = []

    def has(self, object_id: str) -> bool:
        """Whether the object is here; says nothing about its bytes.

        Raises:
            CorruptRepositoryError: An index is damaged.
            MachineError: The operating system refuses.
        """
        with _told(f"the index of the objects is damaged, looking for {object_id}", object_id):
            return self._locate(object_id) is not None

    def absent(self, object_ids: Iterable[str]) -> list[str]:
        """Those that are not here, sorted; see `has`."""
        with _told("the index of the objects is damaged", str(self.store.path)):
            self._look_for_packs()
            return sorted(each for each in set(object_ids) if self._find(each) is None)

    def read(self, object_id: str, place: str) -> tuple[ObjectKind, bytes]:
        """Kind and exact content of an object, checked against its id.

        `place` is what the object stands for (a path, a commit), for messages.

        Raises:
            CorruptRepositoryError: It is missing, or its bytes are damaged.
            FileTooLargeError: It is over the size limit; it was not inflated.
            MachineError: The operating system refuses.
        """
        with _told(f"the object {object_id} is damaged", place):
            found = self._locate(object_id)
            if found is None:
                raise CorruptRepositoryError(f"the object {object_id} is missing", place=place, hint=self.missing_hint)
            require_size(place, _loose_size(found) if isinstance(found, str) else _packed_size(*found), self.max_bytes)
            whole = self.store[ObjectID(object_id.encode())]
            return cast("ObjectKind", whole.type_name.decode()), whole.as_raw_string()

    def ids_with_prefix(self, prefix: str) -> list[str]:
        """Full ids of all objects that begin with these hex digits (at least two).

        Raises:
            CorruptRepositoryError: An index is damaged.
            MachineError: The operating system refuses.
        """
        with _told(f"the index of the objects is damaged, looking for {prefix}", prefix):
            found = {each.decode() for each in self.store.iter_prefix(prefix.lower().encode())}
        return sorted(each for each in found if len(each) == HEX_LENGTH[self.object_format])

    def close(self) -> None:
        """Close the packs."""
        self._packs = []
        self.store.close()

    def _locate(self, object_id: str) -> str | tuple[Pack, int] | None:
        """The loose file, or the pack and the offset in it, where the object is."""
        for attempt in range(3):
            try:
                found = self._find(object_id)
            except PackFileDisappeared:  # by somebody's `git gc` just now
                found = None
            if found is not None or attempt == 2:
                return found
            self._look_for_packs()
        return None

    def _find(self, object_id: str) -> str | tuple[Pack, int] | None:
        name = ObjectID(object_id.encode())
        for pack in self._packs:
            try:
                return pack, pack.index.object_offset(name)
            except KeyError:
                continue
        for store in self._stores:
            loose = f"{os.fspath(store.path)}/{object_id[:2]}/{object_id[2:]}"
            if os.path.isfile(loose):  # noqa: PTH113 - a tenth of the time of Path
                return loose
        return None

    def _look_for_packs(self) -> None:
        self._packs = [pack for store in self._stores for pack in store.packs]


@contextmanager
def _told(damage: str, place: str) -> Iterator[None]:
    """Tell what a library raises as one of our errors.

    Damage surfaces as nearly any exception: zlib.error, AssertionError, KeyError, ApplyDeltaError, struct.error ...
    """
    try:
        yield
    except (TrunchbuildError, MemoryError):
        raise
    except PermissionError as error:
        raise MachineError(f"cannot read the repository ({error.strerror})", place=str(error.filename)) from error
    except Exception as error:
        release_buffers(error)
        raise CorruptRepositoryError(
            f"{damage} ({type(error).__name__})",
            place=place,
            hint="`git fsck` lists what is damaged; a fresh clone cures it",
        ) from error


def release_buffers(error: BaseException) -> None:
    """Let go of what the frames of a library's exception hold: views of a mapped pack, which could not be closed."""
    seen: BaseException | None = error
    while seen is not None:
        clear_frames(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__


def _loose_size(file: str) -> int:
    with Path(file).open("rb") as opened:
        head = opened.read(256)
    inflated = zlib.decompressobj().decompress(head, 64)
    return int(inflated.split(b"\0", 1)[0].split(b" ", 1)[1])


def _packed_size(pack: Pack, offset: int) -> int:
    """The inflated size as the pack states it (`man gitformat-pack`); inflating checks it later."""
    with Path(pack.data.path).open("rb") as file:
        file.seek(offset)
        head = file.read(256)
    kind = head[0] >> 4 & 7
    size, at = head[0] & 15, 1
    shift = 4
    while head[at - 1] & 0x80:
        size |= (head[at] & 0x7F) << shift
        shift += 7
        at += 1
    if kind in _PACK_KINDS:
        return size
    if kind == _REF_DELTA:
        at += pack.object_format.oid_length
    elif kind == _OFFSET_DELTA:
        while head[at] & 0x80:
            at += 1
        at += 1
    # The delta begins with the size of its base and of its result, seven bits a byte.
    delta = zlib.decompressobj().decompress(head[at:], 32)
    return read_varint(delta, read_varint(delta, 0)[1])[0]


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A little-endian base-128 number at `at`, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if not byte & 0x80:
            return value, at
