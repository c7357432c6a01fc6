"""What a revision means; ids are arbitrary, the order of lookup is that of `man gitrevisions`."""

from __future__ import annotations

import pytest

from trunchbuild.core.revision import (
    AmbiguousRevisionError,
    Resolution,
    UnknownRevisionError,
    candidate_refs,
    check_revision,
    is_abbreviation,
    is_full_id,
    names_there,
    resolve_revision,
)
from trunchbuild.errors import ExitCode, UsageError

A, B, C = "a" * 40, "b" * 40, "c" * 40


@pytest.mark.parametrize(
    "revision", ["main", "feature/x", "v1.0", "refs/heads/main", "HEAD", A, "abcd", "größe", "a@b"]
)
def test_names_and_ids_pass(revision: str) -> None:
    check_revision(revision)


@pytest.mark.parametrize(
    "revision",
    [
        "main~1", "HEAD^", "a..b", "@{u}", "HEAD@{1}", ":/fix", "HEAD:path", "a b", "x*", "x?", "[x", "a\\b", "-x", "@",
        "/x", "x/", "a//b", ".x", "a/.x", "x.lock", "x.", "x\x7f", "x\n", "",
    ],
)  # fmt: skip
def test_navigation_and_illegal_names_are_refused(revision: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_revision(revision)
    assert "git rev-parse" in str(caught.value.hint)


def test_lengths() -> None:
    assert is_full_id("A" * 40, "sha1")
    assert not is_full_id("a" * 40, "sha256")
    assert is_full_id("a" * 64, "sha256")
    assert is_abbreviation("a" * 40, "sha256")
    assert is_abbreviation("abcd", "sha1")
    assert not is_abbreviation("abc", "sha1")
    assert not is_abbreviation("abcg", "sha1")


@pytest.mark.parametrize(
    ("revision", "refs", "expected"),
    [
        ("main", {"refs/heads/main": A}, Resolution("refs/heads/main", A)),
        ("v1", {"refs/tags/v1": A, "refs/heads/main": B}, Resolution("refs/tags/v1", A)),
        ("heads/main", {"refs/heads/main": A}, Resolution("refs/heads/main", A)),
        ("refs/heads/v1", {"refs/heads/v1": A, "refs/tags/v1": B}, Resolution("refs/heads/v1", A)),
        ("origin/main", {"refs/remotes/origin/main": A}, Resolution("refs/remotes/origin/main", A)),
        ("HEAD", {"HEAD": A}, Resolution("refs/heads/main", A)),
        (A, {}, Resolution(None, A)),
        ("A" * 40, {}, Resolution(None, A)),
        ("aaaa", {}, Resolution(None, A)),
    ],
)
def test_one_meaning(revision: str, refs: dict[str, str], expected: Resolution) -> None:
    found = resolve_revision(
        revision, refs, object_format="sha1", head="refs/heads/main", abbreviated=[A] if revision == "aaaa" else []
    )
    assert found == expected


def test_a_detached_head_is_its_own_ref() -> None:
    assert resolve_revision("HEAD", {"HEAD": A}, object_format="sha1") == Resolution("HEAD", A)


@pytest.mark.parametrize(
    ("revision", "refs", "abbreviated", "listed"),
    [
        ("v1", {"refs/tags/v1": A, "refs/heads/v1": B}, [], [f"refs/tags/v1 ({A})", f"refs/heads/v1 ({B})"]),
        ("v1", {"refs/tags/v1": A, "refs/heads/v1": A}, [], ["refs/tags/v1", "refs/heads/v1"]),
        ("abcd", {"refs/heads/abcd": A}, [B], [f"refs/heads/abcd ({A})", f"object ({B})"]),
        ("abcd", {}, [B, A], [f"object ({A}), object ({B})"]),
        (C, {f"refs/heads/{C}": A}, [], [f"refs/heads/{C} ({A})", f"object ({C})"]),
        ("HEAD", {"HEAD": A, "refs/heads/HEAD": B}, [], ["refs/heads/HEAD"]),
    ],
)
def test_two_meanings_are_listed(
    revision: str, refs: dict[str, str], abbreviated: list[str], listed: list[str]
) -> None:
    with pytest.raises(AmbiguousRevisionError) as caught:
        resolve_revision(revision, refs, object_format="sha1", abbreviated=abbreviated)
    for each in listed:
        assert each in str(caught.value)
    assert caught.value.exit_code == ExitCode.BAD_INPUT


def test_no_meaning() -> None:
    with pytest.raises(UnknownRevisionError, match="no commit, branch or tag `main`"):
        resolve_revision("main", {"refs/heads/other": A}, object_format="sha1")
    with pytest.raises(UnknownRevisionError, match="local repositories only"):
        resolve_revision("abcd", {}, object_format="sha1", remote=True)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["main", "v1"], "did you mean `main`?"),
        (["master", "v1"], "its branches and tags are `master`, `v1`"),
        ([f"v{n}" for n in range(7)], "its branches and tags are `v0`, `v1`, `v2`, `v3`, `v4` and 2 more"),
        ([], None),
    ],
)
def test_the_hint_after_no_meaning(names: list[str], hint: str | None) -> None:
    assert names_there("mian", names) == hint


def test_candidates_never_leave_refs() -> None:
    assert candidate_refs("refs/heads/x") == ("refs/heads/x",)
    assert set(candidate_refs("x")) == {"refs/x", "refs/tags/x", "refs/heads/x", "refs/remotes/x"}
