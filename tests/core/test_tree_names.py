"""Names in trees. The hostile ones are those of `git fsck` and of CVE-2014-9390 and CVE-2019-1352."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.tree_names import HostileTreeError, NameIndex, folded, name_fault, path_parts
from trunchbuild.errors import BadInputError


@pytest.mark.parametrize(
    "name",
    [b"a.txt", b".gitignore", b".gitattributes", b".github", b"git", b"git~", b"a b", "größe".encode(), b"...", b"-x"],
)
def test_good_names(name: bytes) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "word"),
    [
        (b"", "empty"),
        (b".", "another folder"),
        (b"..", "another folder"),
        (b".git", ".git"),
        (b".GIT", ".git"),
        (b".Git", ".git"),
        (b".git ", ".git"),
        (b".git.", ".git"),
        (b"git~1", ".git"),
        (b"GIT~1", ".git"),
        (b"git~2", ".git"),
        (".g\u200cit".encode(), ".git"),
        (b"a\\b", "backslash"),
        (b"a/b", "slash"),
        (b"c:", "colon"),
        (b".git::$INDEX_ALLOCATION", "colon"),
        (b"a\nb", "control"),
        (b"a\x1b[0m", "control"),
        ("a\x85b".encode(), "control"),
        (b"\xff\xfe", "UTF-8"),
        (b"\xed\xa0\x80", "UTF-8"),
        (b"\xc0\xaf", "UTF-8"),
    ],
)
def test_hostile_names(name: bytes, word: str) -> None:
    fault = name_fault(name)
    assert fault is not None
    assert word in fault


def test_a_unique_name_passes() -> None:
    NameIndex([b"a", b"b", b"\xff"]).require_unique("a", place="a")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("a.txt", "A.txt"),
        ("stra\u00dfe", "STRASSE"),
        ("\u00e9", "e\u0301"),
        ("\u212b", "\u00e5"),  # ANGSTROM SIGN, LATIN SMALL LETTER A WITH RING ABOVE
        ("\ufb01", "fi"),
    ],
)
def test_names_that_fall_together(name: str, other: str) -> None:
    index = NameIndex([name.encode(), other.encode()])
    with pytest.raises(HostileTreeError) as caught:
        index.require_unique(name, place=f"data/{name}")
    assert other in str(caught.value)


def test_a_name_that_stands_twice() -> None:
    with pytest.raises(HostileTreeError, match="stands 2 times"):
        NameIndex([b"a", b"a"]).require_unique("a", place="a")


@given(st.text(max_size=8))
def test_folding_is_settled_and_blind_to_unicode_forms(name: str) -> None:
    assert folded(folded(name)) == folded(name)
    assert folded(unicodedata.normalize("NFD", name)) == folded(unicodedata.normalize("NFC", name))


@pytest.mark.parametrize(
    ("path", "parts"), [("a", ["a"]), ("data/x.jsonl", ["data", "x.jsonl"]), ("a/..b", ["a", "..b"])]
)
def test_plain_paths(path: str, parts: list[str]) -> None:
    assert path_parts(path) == parts


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "./a", "a//b", "a/", "a/.", ".git/config", "a\\b", "c:/x",
     "a\0b", "a\ud800"],
)  # fmt: skip
def test_paths_that_are_refused(path: str) -> None:
    with pytest.raises(BadInputError):
        path_parts(path)
