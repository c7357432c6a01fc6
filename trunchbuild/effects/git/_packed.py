"""One pack, read object by object with every size known before anything is inflated (`man gitformat-pack`).

A delta names a base, which may be a delta again: small packs can say sizes, chains and circles without end.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.revision import ObjectFormat
from trunchbuild.core.tree import FileTooLargeError, require_size

ObjectKind = Literal["commit", "tree", "blob", "tag"]

_KINDS: dict[int, ObjectKind] = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _REF_DELTA = 6, 7
_CHUNK = 64 << 10
_HEAD = 64
"""Bytes that hold any entry's head: a size of 64 bits, and an offset of 64 bits or an id."""
_LAST_SHIFT = 56
_MAX_CHAIN = 5_000
"""Git itself makes none longer than 4,095 (`pack.depth`)."""
CHAIN_BYTES = 128 << 20
"""Of a base that is not itself read, and of all deltas on the way to it."""
_KEPT_BYTES, _KEPT_EACH = 16 << 20, 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """The head of one object in a pack."""

    kind: ObjectKind | None
    """None for a delta."""
    size: int
    """Inflated, as stated; of a delta the delta's own."""
    base: int | bytes | None
    """Of a delta: the base's offset, or its raw id."""
    data_at: int
    """Where the compressed bytes begin."""


class PackedObjects:
    """A pack file; `close` it. What makes no sense raises `ValueError` (or `IndexError`, `zlib.error`)."""

    def __init__(self, path: str | os.PathLike[str], id_bytes: int, offset_of: Callable[[bytes], int | None]) -> None:
        """`offset_of` says where in this pack the object with a raw id is."""
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._id_bytes = id_bytes
        self._offset_of = offset_of
        self._kept: OrderedDict[int, tuple[ObjectKind, bytes]] = OrderedDict()
        self._kept_bytes = 0

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def entry(self, offset: int) -> Entry:
        """Read the head of an object."""
        head = os.pread(self._descriptor, _HEAD, offset)
        size, shift, at = head[0] & 15, 4, 1
        while head[at - 1] & 0x80:
            if shift > _LAST_SHIFT:
                raise ValueError("an object's size has too many digits")
            size |= (head[at] & 0x7F) << shift
            shift += 7
            at += 1
        number = head[0] >> 4 & 7
        if number == _OFFSET_DELTA:
            back, at = _distance(head, at)
            if not 0 < back <= offset - 12:
                raise ValueError("a delta's base is outside of the pack")
            return Entry(None, size, offset - back, offset + at)
        if number == _REF_DELTA:
            return Entry(None, size, head[at : at + self._id_bytes], offset + at + self._id_bytes)
        if number not in _KINDS:
            raise ValueError(f"an object of the unknown kind {number}")
        return Entry(_KINDS[number], size, None, offset + at)

    def end_of(self, entry: Entry, take: Callable[[bytes], None]) -> int:
        """Hand the inflated bytes to `take` piece by piece; gives where the next object begins."""
        end: list[int] = []
        for piece in self._inflated(entry, end):
            take(piece)
        return end[0]

    def delta(self, offset: int, limit: int, place: str) -> bytes:
        """A delta's own bytes, where neither they nor what they make is over `limit`.

        Raises:
            FileTooLargeError: One is.
            ValueError, IndexError, zlib.error: It is damaged.
        """
        entry = self.entry(offset)
        require_size(place, entry.size, limit)
        delta = b"".join(self._inflated(entry, []))
        require_size(place, delta_sizes(delta)[1], limit)
        return delta

    def size(self, offset: int) -> int:
        """Inflated size of an object as the pack states it; reading it checks that."""
        entry = self.entry(offset)
        if entry.base is None:
            return entry.size
        head = b""
        for piece in self._inflated(entry, []):
            head += piece
            if len(head) >= _HEAD:
                break
        return delta_sizes(head)[1]

    def read(self, offset: int, limit: int, place: str) -> tuple[ObjectKind, bytes]:
        """Kind and content of an object.

        Raises:
            FileTooLargeError: It is over `limit`, or stored as a difference to something far over it.
            ValueError, IndexError, zlib.error: It is damaged.
        """
        deltas: list[bytes] = []
        here, chain = offset, max(CHAIN_BYTES, limit)
        seen, spent = set[int](), 0
        while here not in self._kept:
            if here in seen or len(seen) > _MAX_CHAIN:
                raise ValueError("deltas in a circle, or a chain without end")
            seen.add(here)
            entry = self.entry(here)
            spent += entry.size
            if entry.kind is not None:
                require_size(place, entry.size, chain if deltas else limit)
            if spent > chain:
                raise FileTooLargeError(
                    "the file is stored as a difference to something too large",
                    place=place,
                    expected=f"at most {chain:,} bytes on the way",
                    hint="`git repack -a -d -F --window=0` stores it whole",
                )
            inflated = b"".join(self._inflated(entry, []))
            if entry.kind is not None:
                kind, data = entry.kind, inflated
                self._keep(here, kind, data)
                break
            if not deltas:
                require_size(place, delta_sizes(inflated)[1], limit)
            deltas.append(inflated)
            here = self._base(entry)
        else:
            kind, data = self._kept[here]
            self._kept.move_to_end(here)
            if not deltas:
                require_size(place, len(data), limit)
        for delta in reversed(deltas):
            require_size(place, delta_sizes(delta)[1], chain)
            data = apply_delta(data, delta)
        if deltas:
            self._keep(offset, kind, data)
        return kind, data

    def _base(self, entry: Entry) -> int:
        if isinstance(entry.base, int):
            return entry.base
        assert entry.base is not None
        found = self._offset_of(entry.base)
        if found is None:
            raise ValueError(f"a delta's base {entry.base.hex()} is not in the pack")
        return found

    def _keep(self, offset: int, kind: ObjectKind, data: bytes) -> None:
        """Remember what may be a base again soon."""
        if len(data) > _KEPT_EACH or offset in self._kept:
            return
        self._kept[offset] = kind, data
        self._kept_bytes += len(data)
        while self._kept_bytes > _KEPT_BYTES:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1][1])

    def _inflated(self, entry: Entry, end: list[int]) -> Iterator[bytes]:
        """The inflated bytes; where the compressed ones end is put into `end`."""
        yield from inflate(
            lambda at: os.pread(self._descriptor, _CHUNK, entry.data_at + at),
            entry.size,
            lambda at: end.append(entry.data_at + at),
        )


def inflate(read: Callable[[int], bytes], size: int, tell_end: Callable[[int], None]) -> Iterator[bytes]:
    """Inflate one zlib stream to exactly `size` bytes, in pieces; `read` gives the compressed bytes from a position.

    Raises:
        ValueError, zlib.error: It is of another size, or damaged.
    """
    stream = zlib.decompressobj()
    at = count = 0
    feed = b""
    while not stream.eof:
        if not feed:
            feed = read(at)
            at += len(feed)
            if not feed:
                raise ValueError("an object is cut short")
        piece = stream.decompress(feed, _CHUNK)
        feed = stream.unconsumed_tail
        count += len(piece)
        if count > size:
            raise ValueError("an object is larger than it says")
        yield piece
    if count != size:
        raise ValueError("an object is smaller than it says")
    tell_end(at - len(stream.unused_data))


def delta_sizes(delta: bytes) -> tuple[int, int, int]:
    """Size of a delta's base and of its result, and where its instructions begin."""
    base, at = _number(delta, 0)
    result, at = _number(delta, at)
    return base, result, at


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """What a delta makes of its base: copies out of it, and bytes of its own.

    Raises:
        ValueError, IndexError: It does not fit the base, or makes something of another size than stated.
    """
    size, result, at = delta_sizes(delta)
    if size != len(base):
        raise ValueError("a delta for another base")
    made = bytearray()
    while at < len(delta):
        code = delta[at]
        at += 1
        if code & 0x80:
            start, length, at = _copy(code, delta, at)
            if start + length > size:
                raise ValueError("a delta copies from beyond its base")
            made += base[start : start + length]
        elif code:
            if at + code > len(delta):
                raise ValueError("a delta is cut short")
            made += delta[at : at + code]
            at += code
        else:
            raise ValueError("an unknown instruction in a delta")
        if len(made) > result:
            raise ValueError("a delta makes more than it says")
    if len(made) != result:
        raise ValueError("a delta makes less than it says")
    return bytes(made)


def _copy(code: int, delta: bytes, at: int) -> tuple[int, int, int]:
    """From where and how much a copy instruction takes, and where it ends: a byte for each bit that is set."""
    values = bytearray(7)
    for bit in range(7):
        if code >> bit & 1:
            values[bit] = delta[at]
            at += 1
    return int.from_bytes(values[:4], "little"), int.from_bytes(values[4:], "little") or 0x10000, at


def started_hash(kind: str, size: int, object_format: ObjectFormat) -> hashlib._Hash:
    """A hash that has seen an object's head; fed with its content it gives the id."""
    made = hashlib.sha256() if object_format == "sha256" else hashlib.sha1(usedforsecurity=False)
    made.update(b"%b %d\0" % (kind.encode(), size))
    return made


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A little-endian base-128 number, and where it ends."""
    value = shift = 0
    while True:
        if shift > _LAST_SHIFT + 7:
            raise ValueError("a number with too many digits")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        shift += 7
        if not byte & 0x80:
            return value, at


def _distance(head: bytes, at: int) -> tuple[int, int]:
    """How far back the base of an offset delta is, and where that number ends."""
    value = head[at] & 0x7F
    while head[at] & 0x80:
        at += 1
        value = (value + 1) << 7 | head[at] & 0x7F
    return value, at + 1
