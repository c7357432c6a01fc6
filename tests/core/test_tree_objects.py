"""Raw Git objects, laid out by hand after `man gitformat-pack` and the Git book (Git Objects)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.tree import MissingFileError
from trunchbuild.core.tree_objects import (
    MalformedObjectError,
    Tree,
    TreeEntry,
    parse_tree,
    target_of_tag,
    tree_of_commit,
)

ID = bytes(range(20))
HEX = "000102030405060708090a0b0c0d0e0f10111213"


def test_a_tree_of_every_kind() -> None:
    raw = b"".join(
        mode + b" " + name + b"\0" + ID
        for mode, name in [
            (b"100644", b"a"), (b"100755", b"b"), (b"40000", b"c"), (b"120000", b"d"), (b"160000", b"e"),
        ]
    )  # fmt: skip
    assert parse_tree(raw, "sha1", place="") == [
        TreeEntry("file", b"a", HEX),
        TreeEntry("file", b"b", HEX),
        TreeEntry("folder", b"c", HEX),
        TreeEntry("link", b"d", HEX),
        TreeEntry("submodule", b"e", HEX),
    ]
    assert parse_tree(b"", "sha1", place="") == []


@pytest.mark.parametrize(
    "raw",
    [b"100644 a\0" + ID[:-1], b"100644 a", b"100644", b"100644\0" + ID, b"777777 a\0" + ID, b" a\0" + ID, b"\0" * 30],
)
def test_senseless_trees(raw: bytes) -> None:
    with pytest.raises(MalformedObjectError):
        parse_tree(raw, "sha1", place="data")


@given(st.binary(max_size=120))
def test_any_bytes_are_a_tree_or_an_error(raw: bytes) -> None:
    try:
        entries = parse_tree(raw, "sha256", place="x")
    except MalformedObjectError:
        return
    assert sum(len(entry.name) + 32 + 2 for entry in entries) <= len(raw)


def test_lookup_hints_at_the_nearest_name() -> None:
    tree = Tree([TreeEntry("file", b"Data.jsonl", HEX), TreeEntry("file", b"cases.jsonl", HEX)])
    assert tree.pick("cases.jsonl", place="cases.jsonl").object_id == HEX
    with pytest.raises(MissingFileError) as caught:
        tree.pick("data.jsonl", place="data.jsonl")
    assert "`Data.jsonl`" in str(caught.value.hint)
    with pytest.raises(MissingFileError) as caught:
        tree.pick("case.jsonl", place="case.jsonl")
    assert caught.value.hint == "did you mean `cases.jsonl`?"


def test_headers() -> None:
    assert tree_of_commit(f"tree {HEX}\nparent ...".encode(), "sha1", place="") == HEX
    assert target_of_tag(f"object {HEX}\ntype commit\n".encode(), "sha1", place="") == HEX
    for raw in (b"", f"tree {HEX}".encode(), f"tree {HEX.upper()}\n".encode(), f"\ntree {HEX}\n".encode()):
        with pytest.raises(MalformedObjectError):
            tree_of_commit(raw, "sha1", place="commit")
        with pytest.raises(MalformedObjectError):
            target_of_tag(raw.replace(b"tree", b"object"), "sha1", place="tag")
