"""Lockfiles: TOML that any reader takes, equal bytes for equal locks, merge markers named, edits found."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.ids import Digest
from trunchbuild.core.loaded import FileRecord
from trunchbuild.core.lockfile import (
    LockConflictError,
    LockedEval,
    LockedSource,
    Lockfile,
    LockFormatError,
    parse_lock,
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
hex64 = st.text("0123456789abcdef", min_size=64, max_size=64)
hex40 = st.text("0123456789abcdef", min_size=40, max_size=40)
records = st.builds(FileRecord, text, hex64, st.integers(0, 2**53 - 1))
evals = st.builds(LockedEval, st.integers(1, 25_000), st.dictionaries(text, records, max_size=3))


def normal(url: str | None) -> str | None:
    """As `compile` records it."""
    return None if url is None else url.rstrip("/")


paths = st.text("abc019._~-/", min_size=1, max_size=12).filter(lambda path: path.strip("/") != "")
servers = st.sampled_from(["https://host", "https://host:8443", "ssh://host", "ssh://host:22"])
urls = st.none() | st.builds("{}/{}".format, servers, paths)
sources = st.one_of(
    st.builds(LockedSource, st.just(kind), ids, ids, text, text, urls.map(normal), st.none() | text)
    for kind, ids in (("sha1", hex40), ("sha256", hex64))
)
locks = st.builds(
    Lockfile,
    name=text,
    version=text,
    digest=st.builds(Digest, hex64),
    case_count=st.integers(1, 25_000),
    cases_sha256=hex64,
    sealed=st.booleans(),
    source=sources,
    evals=st.dictionaries(text, evals, max_size=3),
    toolchain=st.dictionaries(text.filter(lambda name: name != "table-sha256"), text, max_size=3),
)


@given(locks)
def test_lockfile_round_trip(lock: Lockfile) -> None:
    assert parse_lock(lock.toml(), "x.lock.toml") == lock


@given(locks)
def test_a_lock_is_one_toml_document_that_ends_in_one_line_feed(lock: Lockfile) -> None:
    data = lock.toml()
    assert tomllib.loads(data.decode())["release"]["digest"] == f"sha256:{lock.digest.hex}"
    assert data.endswith(b"\n")
    assert not data.endswith(b"\n\n")


LOCK = Lockfile(
    name="gsm8k",
    version="1.0.0",
    digest=Digest("a" * 64),
    case_count=3,
    cases_sha256="b" * 64,
    sealed=False,
    source=LockedSource("sha1", "c" * 40, "d" * 40, "benchmark.config.ts", "main", "https://example.invalid/x.git"),
    evals={
        "zeta": LockedEval(1),
        "alpha.one": LockedEval(
            2, {"b": FileRecord("data/b.jsonl", "e" * 64, 7), "a": FileRecord("data/a.jsonl", "f" * 64, 9)}
        ),
    },
    toolchain={"trunchbuild": "0.1.0", "node": "v24.0.0"},
)


def test_tables_are_sorted_whatever_order_the_values_came_in() -> None:
    lines = LOCK.toml().decode().splitlines()
    tables = [line for line in lines if line.startswith("[")]
    assert tables == [
        "[release]",
        "[source]",
        '[evals."alpha.one"]',
        '[evals."alpha.one".sources.a]',
        '[evals."alpha.one".sources.b]',
        "[evals.zeta]",
        "[toolchain]",
    ]
    assert 'commit = "' + "c" * 40 + '"' in lines
    turned = replace(
        LOCK, evals=dict(reversed(LOCK.evals.items())), toolchain={"node": "v24.0.0", "trunchbuild": "0.1.0"}
    )
    assert turned.toml() == LOCK.toml()


def test_a_lock_of_a_local_repository_states_no_place() -> None:
    assert b"url" not in replace(LOCK, source=replace(LOCK.source, url=None)).toml()
    assert b'url = "https://example.invalid/x.git"' in LOCK.toml()


@pytest.mark.parametrize("ending", ["", "\r"])
@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> other", "||||||| base"])
def test_merge_markers_are_named_with_their_line(marker: str, ending: str) -> None:
    """R111: a conflict is a message, not a parser's trace."""
    lines = LOCK.toml().decode().splitlines()
    lines.insert(6, marker + ending)
    with pytest.raises(LockConflictError) as caught:
        parse_lock("\n".join(lines).encode(), "lockfiles/gsm8k.lock.toml")
    assert caught.value.faults[0].place == "lockfiles/gsm8k.lock.toml:7"
    assert caught.value.faults[0].got == f"`{marker}`"
    assert "--update" in (caught.value.hint or "")


def test_equal_signs_inside_a_value_are_no_marker() -> None:
    odd = replace(LOCK, source=replace(LOCK.source, requested="======="))
    assert parse_lock(odd.toml(), "x").source.requested == "======="


@pytest.mark.parametrize(
    "url",
    [
        "https://user:secret@host/x.git",
        "https://user@host/x.git",
        "git@host:x",
        "https://HOST/x",
        "ext::sh -c id",
        "file:///srv/x",
        "/srv/x",
        "",
        "https://host/x\x1b[31m",
    ],
)
def test_an_address_that_compile_would_not_write_is_refused(url: str) -> None:
    good = replace(LOCK, source=replace(LOCK.source, url="https://host:8443/x%20y.git"))
    assert parse_lock(good.toml(), "x").source.url == "https://host:8443/x%20y.git"
    with pytest.raises(LockFormatError) as caught:
        parse_lock(replace(LOCK, source=replace(LOCK.source, url=url)).toml(), "x")
    assert caught.value.faults[0].place == "x/source/url"
    assert "secret" not in repr(caught.value.faults)


@pytest.mark.parametrize("commit", ["main", "1" * 39, "1" * 64, "A" * 40, "-x"])
def test_a_commit_is_a_full_id(commit: str) -> None:
    with pytest.raises(LockFormatError, match="commit"):
        parse_lock(replace(LOCK, source=replace(LOCK.source, commit=commit)).toml(), "x")


def values(table: dict[str, object], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, value in table.items():
        found += values(value, (*path, name)) if isinstance(value, dict) else [(*path, name)]
    return found


SELF_CHECKED = [
    path
    for path in values(tomllib.loads(LOCK.toml().decode()))
    if path[0] in ("lock-version", "source", "toolchain") or path == ("release", "digest")
]


@pytest.mark.parametrize("path", SELF_CHECKED, ids="/".join)
def test_an_edit_of_what_no_manifest_states_is_found_in_the_lock_alone(path: tuple[str, ...]) -> None:
    import tomli_w  # noqa: PLC0415

    tables = tomllib.loads(LOCK.toml().decode())
    inner = tables
    for step in path[:-1]:
        inner = inner[step]
    old = inner[path[-1]]
    inner[path[-1]] = old + 1 if isinstance(old, int) else old[:-1] + ("0" if old[-1] != "0" else "1")
    with pytest.raises(LockFormatError):
        parse_lock(tomli_w.dumps(tables).encode(), "x.lock.toml")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"lock-version = 1\n",
        b"lock-version = 1 = 2\n",
        b"lock-version = 1\nlock-version = 1\n",
        b"a = " + b"[" * 3000,
        LOCK.toml().replace(b"case-count = 3", b"case-count = 1979-05-27"),
        LOCK.toml().replace(b"case-count = 3", b"case-count = nan"),
        LOCK.toml().replace(b"case-count = 3", b"case-count = true"),
        LOCK.toml().replace(b"case-count = 3", b"case-count = " + b"3" * 5000),
        LOCK.toml() + b"[extra]\n",
    ],
)
def test_what_is_no_lock_is_refused_without_a_trace(data: bytes) -> None:
    with pytest.raises(LockFormatError):
        parse_lock(data, "x.lock.toml")
