"""A look through a received pack before anything is built from it: small packs can inflate to any size.

The layout is `man gitformat-pack`.
"""

from __future__ import annotations

import zlib
from mmap import ACCESS_READ, mmap

from trunchbuild.core.tree import FileTooLargeError
from trunchbuild.effects.git._objects import read_varint
from trunchbuild.effects.git.api import CorruptRepositoryError

_CHUNK = 64 << 10
_OFFSET_DELTA, _REF_DELTA = 6, 7
_LAST_SHIFT = 56
"""Sizes are of 64 bits; endless ones would be a number that grows with the pack."""


def scan_pack(descriptor: int, *, limit: int, id_bytes: int, place: str) -> None:
    """Walk through all objects in constant memory.

    Args:
        descriptor: Of the pack file; its position does not move.
        limit: Bytes that one object, a delta, or a delta's result may have.
        id_bytes: Width of an object id.
        place: For messages.

    Raises:
        FileTooLargeError: An object is over the limit.
        CorruptRepositoryError: The pack is malformed.
    """
    try:
        with mmap(descriptor, 0, access=ACCESS_READ) as data, memoryview(data) as view:
            if bytes(view[:4]) != b"PACK" or int.from_bytes(view[4:8]) not in {2, 3}:
                raise CorruptRepositoryError("the server sent no pack", place=place)
            at = 12
            for _ in range(int.from_bytes(view[8:12])):
                at = _skip_object(view, at, limit, id_bytes, place)
    except (IndexError, ValueError, zlib.error) as error:
        raise CorruptRepositoryError(f"the server sent a damaged pack ({error})", place=place) from error


def _skip_object(view: memoryview, at: int, limit: int, id_bytes: int, place: str) -> int:
    """Where the next object begins."""
    byte = view[at]
    kind, size, shift = byte >> 4 & 7, byte & 15, 4
    at += 1
    while byte & 0x80:
        if shift > _LAST_SHIFT:
            raise ValueError("an object's size has too many digits")
        byte = view[at]
        size |= (byte & 0x7F) << shift
        shift += 7
        at += 1
    if kind == _REF_DELTA:
        at += id_bytes
    elif kind == _OFFSET_DELTA:
        while view[at] & 0x80:
            at += 1
        at += 1
    _require(size, limit, place)
    head, at = _inflate(view, at, size)
    if kind in {_REF_DELTA, _OFFSET_DELTA}:
        base, result_at = read_varint(head, 0)
        _require(base, limit, place)
        _require(read_varint(head, result_at)[0], limit, place)
    return at


def _inflate(view: memoryview, at: int, size: int) -> tuple[bytes, int]:
    """The first bytes of an object and where its compressed form ends.

    Raises:
        ValueError: It is not of the stated size.
    """
    stream = zlib.decompressobj()
    head, count = b"", 0
    feed: bytes = b""
    while not stream.eof:
        if not feed:
            feed = bytes(view[at : at + _CHUNK])
            if not feed:
                raise ValueError("cut short")
            at += len(feed)
        out = stream.decompress(feed, _CHUNK)
        feed = stream.unconsumed_tail
        head = head or out[:32]
        count += len(out)
        if count > size:
            raise ValueError("an object is larger than it says")
    if count != size:
        raise ValueError("an object is smaller than it says")
    return head, at - len(stream.unused_data)


def _require(size: int, limit: int, place: str) -> None:
    if size > limit:
        raise FileTooLargeError(
            "the server sends an object that is too large",
            place=place,
            expected=f"at most {limit:,} bytes",
            got=f"{size:,} bytes",
            hint="divide it into several sources",
        )
