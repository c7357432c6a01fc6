"""Merkle trees: the vectors of the Certificate Transparency reference implementation, and the RFC's recursion."""

from __future__ import annotations

from hashlib import sha256

import pytest

from trunchbuild.core.merkle import MerkleTree, audit_path, root_from_path, root_of
from trunchbuild.errors import BadInputError

# The inputs, roots and paths of merkletree/merkle_tree_test.cc in google/certificate-transparency.
LEAVES = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
PATHS = {
    (0, 1): (),
    (0, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (5, 8): (
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 3): ("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",),
    (1, 5): (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}


def test_published_roots() -> None:
    assert root_of([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    tree = MerkleTree()
    for leaf, root in zip(LEAVES, ROOTS, strict=True):
        tree.add(leaf)
        assert tree.root() == root
    assert len(tree) == 8


@pytest.mark.parametrize(("index", "size"), list(PATHS))
def test_published_paths(index: int, size: int) -> None:
    assert audit_path(LEAVES[:size], index) == PATHS[index, size]
    assert root_from_path(LEAVES[index], index, size, PATHS[index, size]) == ROOTS[size - 1]


def rfc_root(lines: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if len(lines) == 1:
        return sha256(b"\x00" + lines[0]).digest()
    split = 1 << (len(lines) - 1).bit_length() - 1
    return sha256(b"\x01" + rfc_root(lines[:split]) + rfc_root(lines[split:])).digest()


def rfc_path(index: int, lines: list[bytes]) -> list[str]:
    """RFC 6962, 2.1.1, word for word."""
    if len(lines) == 1:
        return []
    split = 1 << (len(lines) - 1).bit_length() - 1
    if index < split:
        return [*rfc_path(index, lines[:split]), rfc_root(lines[split:]).hex()]
    return [*rfc_path(index - split, lines[split:]), rfc_root(lines[:split]).hex()]


@pytest.mark.parametrize("size", [*range(1, 20), 31, 32, 33])
def test_equal_to_the_recursion_of_the_rfc(size: int) -> None:
    lines = [b"line %d" % number for number in range(size)]
    root = rfc_root(lines).hex()
    assert root_of(lines) == root
    for index in range(size):
        path = audit_path(lines, index)
        assert list(path) == rfc_path(index, lines)
        assert root_from_path(lines[index], index, size, path) == root


def test_a_wrong_proof_never_gives_the_root() -> None:
    """Every change of one part: line, index, size, a step changed, dropped, added or out of order."""
    path, line, root = PATHS[5, 8], LEAVES[5], ROOTS[7]
    wrong: list[str | None] = [root_from_path(b"x", 5, 8, path)]
    wrong += [root_from_path(line, index, 8, path) for index in (-1, 0, 4, 6, 7, 8, 13)]
    wrong += [root_from_path(line, 5, size, path) for size in (0, 4, 5, 9, 16)]
    wrong += [root_from_path(line, 5, 8, other) for other in (path[:2], (*path, path[0]), path[::-1], ())]
    wrong += [
        root_from_path(line, 5, 8, (path[0][:-1] + "0", *path[1:])),
        root_from_path(line, 5, 8, ("xyz", *path[1:])),
    ]
    wrong += [root_from_path(line, 5, 8, (path[0].upper(), *path[1:]))]
    assert root not in wrong


def test_no_path_for_a_line_that_is_not_there() -> None:
    for index in (-1, 8):
        with pytest.raises(BadInputError, match="no such line"):
            audit_path(LEAVES, index)
