"""A pack that a server sent, indexed in little memory: what nobody needs may be of any size, and costs no more.

The layout is `man gitformat-pack`.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from trunchbuild.core.revision import HEX_LENGTH, ObjectFormat
from trunchbuild.core.tree import FileTooLargeError
from trunchbuild.effects.git._packed import CHAIN_BYTES, ObjectKind, PackedObjects, apply_delta, started_hash
from trunchbuild.effects.git.api import CorruptRepositoryError

_HEAD_BYTES = 12
_HELD_BYTES = 256 << 20
"""Of objects that are kept while those stored as differences to them are made."""


class ReceivedPack:
    """A pack file without an index of its own. An object is where its bytes hash to; nothing else is believed."""

    def __init__(self, path: Path, object_format: ObjectFormat, *, inflated: int, place: str) -> None:
        """Read it from end to end.

        Args:
            path: Of the file.
            object_format: Of the repository.
            inflated: Bytes that may come out of it in all.
            place: For messages.

        Raises:
            CorruptRepositoryError: It is malformed, or too much comes out of it.
        """
        self._format: ObjectFormat = object_format
        self._left, self._place = inflated, place
        self._offsets: dict[bytes, int] = {}
        self._children: dict[int | bytes, list[int]] = {}
        self._left_out = False
        self.objects = PackedObjects(path, HEX_LENGTH[object_format] // 2, self.offset_of)
        try:
            self._require_trailer(path)
            self._index(path)
        except (IndexError, ValueError, zlib.error) as error:
            self.close()
            raise CorruptRepositoryError(f"the server sent a damaged pack ({error})", place=place) from error
        except BaseException:
            self.close()
            raise

    def offset_of(self, raw: bytes) -> int | None:
        """Where the object with this raw id is."""
        return self._offsets.get(raw)

    def named(self) -> Iterator[tuple[bytes, int]]:
        """Raw id and offset of every object that is not left out."""
        yield from self._offsets.items()

    def close(self) -> None:
        """Close the file."""
        self.objects.close()

    def _index(self, path: Path) -> None:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        if head[:4] != b"PACK" or int.from_bytes(head[4:8]) not in {2, 3}:
            raise ValueError("it has no head of a pack")
        roots: list[tuple[int, bytes]] = []
        at = _HEAD_BYTES
        for _ in range(int.from_bytes(head[8:12])):
            start, entry = at, self.objects.entry(at)
            self._spend(entry.size)
            made = started_hash(entry.kind or "", entry.size, self._format)
            at = self.objects.end_of(entry, made.update)
            if entry.base is None:
                self._offsets[made.digest()] = start
                roots.append((start, made.digest()))
            else:
                self._children.setdefault(entry.base, []).append(start)
        if at != path.stat().st_size - HEX_LENGTH[self._format] // 2:
            raise ValueError("there is more in it than its objects")
        for start, name in roots:
            self._name_children(start, name)
        if self._children and not self._left_out:
            raise ValueError("a difference to something that is not in it")

    def _name_children(self, root: int, name: bytes) -> None:
        """Make and name what is stored as differences to an object, and as differences to those."""
        ready: list[tuple[int, list[int], tuple[ObjectKind, bytes] | None]] = []
        held = 0
        if children := self._children_of(root, name):
            ready.append((root, children, None))
        while ready:
            here, children, known = ready.pop()
            try:
                kind, base = known or self._read(here)
                held -= len(base) if known else 0
                for child in children:
                    delta = self._delta(child)
                    data = apply_delta(base, delta)
                    self._spend(len(data))
                    made = started_hash(kind, len(data), self._format)
                    made.update(data)
                    self._offsets.setdefault(made.digest(), child)
                    if below := self._children_of(child, made.digest()):
                        keep = held + len(data) <= _HELD_BYTES
                        held += len(data) if keep else 0
                        ready.append((child, below, (kind, data) if keep else None))
            except FileTooLargeError:
                # Larger than anything that is read; so is most that is near to it.
                self._left_out = True

    def _children_of(self, offset: int, name: bytes) -> list[int]:
        return self._children.pop(offset, []) + self._children.pop(name, [])

    def _read(self, offset: int) -> tuple[ObjectKind, bytes]:
        kind, data = self.objects.read(offset, CHAIN_BYTES, self._place)
        self._spend(len(data))
        return kind, data

    def _delta(self, offset: int) -> bytes:
        delta = self.objects.delta(offset, CHAIN_BYTES, self._place)
        self._spend(len(delta))
        return delta

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise CorruptRepositoryError("too much comes out of the pack that the server sent", place=self._place)

    def _require_trailer(self, path: Path) -> None:
        """The last bytes are a hash of all others: a pack that was cut or changed on its way is told at once."""
        made = hashlib.sha256() if self._format == "sha256" else hashlib.sha1(usedforsecurity=False)
        left = path.stat().st_size - made.digest_size
        with path.open("rb") as file:
            while left > 0 and (chunk := file.read(min(left, 1 << 20))):
                made.update(chunk)
                left -= len(chunk)
            if file.read() != made.digest():
                raise ValueError("its checksum does not fit")
