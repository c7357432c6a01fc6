"""Merkle trees of RFC 6962 (section 2.1) over the lines of a file: root, audit path, verification.

A leaf is SHA-256(0x00 || line without its LF), a node SHA-256(0x01 || left || right). Hashes are bare hex outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from trunchbuild.errors import BadInputError

_HEX64 = re.compile(r"[0-9a-f]{64}\Z")


def _leaf(line: bytes) -> bytes:
    return sha256(b"\x00" + line).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


class MerkleTree:
    """Builds the root while lines stream by; holds one hash per level, never the lines."""

    __slots__ = ("_size", "_subtrees")

    def __init__(self) -> None:
        self._size = 0
        self._subtrees: list[bytes] = []

    def __len__(self) -> int:
        """How many lines were added."""
        return self._size

    def add(self, line: bytes) -> None:
        """Append one line, given without its LF."""
        digest = _leaf(line)
        # Each trailing one bit of the size is a full subtree that the new leaf completes to one twice as large.
        rest = self._size
        while rest & 1:
            digest = _node(self._subtrees.pop(), digest)
            rest >>= 1
        self._subtrees.append(digest)
        self._size += 1

    def root(self) -> str:
        """The root of the lines so far, in hex; for no line the SHA-256 of nothing."""
        if not self._subtrees:
            return sha256(b"").hexdigest()
        digest = self._subtrees[-1]
        for subtree in reversed(self._subtrees[:-1]):
            digest = _node(subtree, digest)
        return digest.hex()


def root_of(lines: Iterable[bytes]) -> str:
    """The root over lines without their LF, in hex."""
    tree = MerkleTree()
    for line in lines:
        tree.add(line)
    return tree.root()


def audit_path(lines: Iterable[bytes], index: int) -> tuple[str, ...]:
    """The hashes that lead from line `index` (from 0) to the root, lowest first, in hex (RFC 6962, 2.1.1).

    Holds one hash of 32 bytes per line.

    Raises:
        BadInputError: There is no such line.
    """
    level = [_leaf(line) for line in lines]
    if not 0 <= index < len(level):
        raise BadInputError("no such line", expected=f"an index below {len(level)}", got=str(index))
    path: list[str] = []
    while len(level) > 1:
        sibling = index ^ 1
        if sibling < len(level):
            path.append(level[sibling].hex())
        # A last node without a sibling moves up unchanged: the split at the largest power of two, seen from below.
        above = [_node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = above + level[len(level) & ~1 :]
        index >>= 1
    return tuple(path)


def root_from_path(line: bytes, index: int, size: int, path: Sequence[str]) -> str | None:
    """The root that an audit path proves for a line (RFC 9162, 2.1.3.2); None where the path cannot belong there.

    The caller compares the result with the root it trusts. `size` is the number of lines of the whole file.
    """
    if not 0 <= index < size or not all(_HEX64.match(step) for step in path):
        return None
    digest, node, last = _leaf(line), index, size - 1
    for step in path:
        if last == 0:
            return None
        other = bytes.fromhex(step)
        if node & 1 or node == last:
            digest = _node(other, digest)
            while node and not node & 1:
                node >>= 1
                last >>= 1
        else:
            digest = _node(digest, other)
        node >>= 1
        last >>= 1
    return digest.hex() if last == 0 else None
