"""Readers of what this machine and the user's folders hold: journals, runs, options, tables of the system."""

from __future__ import annotations

import atexit
import base64
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

import click

from fuzz.errors import Reader
from fuzz.samples import sample
from trunchbuild.cli.run_options import COUNT, Number, Text
from trunchbuild.core.ids import CaseId, Digest
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.plan import read_case_list
from trunchbuild.core.release import release_digest
from trunchbuild.core.resolve import Refused, resolve
from trunchbuild.core.results import read_results
from trunchbuild.core.run_checks import document_faults
from trunchbuild.core.run_spec import RunSpec, read_run_spec
from trunchbuild.core.source_map import original_position
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.summary import summarize
from trunchbuild.effects.endpoint._redact import MARK, Redactor
from trunchbuild.effects.journal._mounts import file_system_of
from trunchbuild.effects.journal._rows import COLUMNS, SqliteReader, digest_of, first_damaged
from trunchbuild.effects.journal._sqlite import _SCHEMA, _check, _database_errors
from trunchbuild.effects.runtime._libraries import library_cache, read_elf
from trunchbuild.effects.store._names import resolve as resolve_release
from trunchbuild.errors import BadInputError
from trunchbuild.flows.recorded_replies import book_of, from_journal
from trunchbuild.flows.run_folder import read_run_file

PLACE = Path("run")


class OneFile:
    """`Files` with the same content under every name."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def exists(self, path: Path) -> bool:
        """See `Files`."""
        return bool(path.name)

    def read(self, path: Path) -> bytes:
        """See `Files`."""
        assert path.name
        return self._data


def run_file(data: bytes) -> None:
    """What is accepted is written so that it reads back."""
    found = read_run_file(PLACE, OneFile(data))  # type: ignore[arg-type]
    again = read_run_file(PLACE, OneFile(json.dumps(found.json()).encode()))  # type: ignore[arg-type]
    assert again == found


def summary(data: bytes) -> None:
    """Whatever a summary says, it is compared member by member with what follows from the rows."""
    stated = read_json(data, "summary.json")
    if not isinstance(stated, dict):
        raise BadInputError("no summary", place="summary.json")
    right = _right_summary()
    differing = list(document_faults(right, stated, "summary.json"))
    assert not differing or right != stated
    if differing:
        raise BadInputError("the summary differs", faults=differing)


@cache
def _right_summary() -> JsonObject:
    rows = [row for _, row in read_results(sample("results").splitlines(keepends=True), "results.jsonl")]
    return summarize(_spec(), rows, partial=False, min_coverage=0.5).json()


def _spec() -> RunSpec:
    return read_run_spec(read_json(sample("run-spec"), "spec"), "spec")


def journal_rows(data: bytes) -> None:
    """Rows of our own tables that a stranger filled: they are read, or the journal is called damaged."""
    rows = read_json(data, "rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 16 for row in rows):
        raise BadInputError("no rows", place="rows")
    database = _tables()
    with _database_errors(PLACE):
        database.execute("DELETE FROM step")
        for row in rows:
            with suppress(sqlite3.Error, OverflowError):
                _insert(database, row)
        assert first_damaged(database) is None
        _read_journal(database)


@cache
def _tables() -> sqlite3.Connection:
    """One database for the process: to make the tables takes longer than to read a few rows."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    atexit.register(database.close)
    database.executescript(_SCHEMA)
    return database


def _insert(database: sqlite3.Connection, row: list[object]) -> None:
    """A row as the input has it, with the digest over what SQLite made of it."""
    database.create_function("digest_of", 16, lambda *values: digest_of(values))
    values = COLUMNS.removesuffix(", sha256")
    database.execute(f"INSERT INTO step ({COLUMNS}) VALUES ({', '.join('?' * 16)}, x'00')", _stored(row))
    database.execute(f"UPDATE step SET sha256 = digest_of({values}) WHERE sha256 = x'00'")


def _stored(row: list[object]) -> list[object]:
    """A request and a reply are bytes; lists and objects of the input stand for their JSON text."""
    texts = [json.dumps(value) if isinstance(value, list | dict) else value for value in row]
    return [text.encode() if at in (7, 9) and isinstance(text, str) else text for at, text in enumerate(texts)]


def journal_file(data: bytes) -> None:
    """A database file, whole or damaged."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database, _database_errors(PLACE):
        if data:
            database.deserialize(data)
        _check(database, PLACE, Digest("0" * 64))
        _read_journal(database)


def _read_journal(database: sqlite3.Connection) -> None:
    reader = SqliteReader(database)
    trials = sorted(reader.recorded())
    assert set(reader.rounds()) == set(trials)
    assert reader.dropped() <= set(trials)
    spent = reader.spent()
    assert spent.tokens >= 0
    records = list(reader.records())
    assert {record.trial for record in records} == set(trials)
    book_of(from_journal(reader, trials))


def case_list(data: bytes) -> None:
    """Chosen cases are those of the release, each once."""
    known = [CaseId("a", "1"), CaseId("a", "2"), CaseId("b", "1"), CaseId("b", "x/y")]
    found = read_case_list(data.decode("utf-8", "replace"), known, ["a", "b"], "cases.txt")
    assert list(found) == [case for case in known if case in found]


def specifier(data: bytes) -> None:
    """It leads to a file that is there, to a built-in module, or nowhere with a reason."""
    tree = ManyFiles()
    found = resolve("src/deep/a.ts", data.decode("utf-8", "replace"), tree)  # type: ignore[arg-type]
    if isinstance(found, Refused):
        raise BadInputError(found.message, place="src/deep/a.ts", hint=found.hint)
    assert found.startswith("node:") or tree.is_file(found)


class ManyFiles:
    """A small tree."""

    files = frozenset({"src/deep/b.ts", "src/deep/c.js", "src/index.mjs", "lib/x.json", "readme.txt", "src/deep/D.ts"})

    def is_file(self, path: str) -> bool:
        """See `SourceTree`."""
        return path in self.files

    def paths(self) -> list[str]:
        """See `SourceTree`."""
        return sorted(self.files)


class OneRelease:
    """`ReleaseFiles`, as far as its name goes."""

    def __init__(self) -> None:
        self.manifest = read_manifest(sample("manifest"))
        self.digest = release_digest(sample("manifest"))


@cache
def _release() -> OneRelease:
    return OneRelease()


def release_text(data: bytes) -> None:
    """A store of one release gives that one, or says that it has none of this name."""
    release = _release()
    found = resolve_release(os.fsdecode(data), [release.digest], lambda _digest: release)  # type: ignore[arg-type,return-value]
    assert found == release.digest


def options(data: bytes) -> None:
    """Click's own errors are the refusal of an option."""
    text = os.fsdecode(data)
    kinds = (COUNT, Number(0, 2), Number(0, float("inf"), above=True, none=True), Text())
    for kind in kinds:
        with suppress(click.BadParameter):
            value = kind.convert(text, None, None)
            assert isinstance(value, str) or 0 <= value < float("inf")
            str(value).encode()


def mounts(data: bytes) -> None:
    """The type is a word of the table."""
    text = data.decode("utf-8", "surrogateescape")
    kind = file_system_of("/home/user/runs", text)
    assert kind is None or kind in text


def redacted(data: bytes) -> None:
    """The first line is a secret; afterwards it stands nowhere, however it is spelled."""
    first, _, body = data.partition(b"\n")
    key = first.decode("utf-8", "replace")
    # A pattern is made of every key, which takes as long as the key.
    if not 8 <= len(key) <= 24 or any(part in MARK for part in (key[:3], key[-3:])):
        return
    cleaned = Redactor([key]).clean(body)
    assert key.encode() not in cleaned
    assert base64.b64encode(key.encode()).rstrip(b"=") not in cleaned
    with suppress(ValueError, RecursionError):
        assert key not in json.dumps(json.loads(cleaned), ensure_ascii=False)
    Redactor([key]).clean_text(body.decode("utf-8", "surrogateescape"))


@contextmanager
def held(data: bytes) -> Iterator[Path]:
    """A file of the memory with this content."""
    descriptor = os.memfd_create("held")
    try:
        os.write(descriptor, data)
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def elf(data: bytes) -> None:
    with held(data) as path:
        found = read_elf(path)
    assert all(isinstance(name, str) for name in found.needed)


def loader_cache(data: bytes) -> None:
    """A cache that cannot be read is none."""
    assert all(isinstance(path, str) for path in library_cache(data).values())


def map_of_source(data: bytes) -> None:
    """As the reader `source-map`, with the map's JSON itself as input."""
    text = f"code\n//# sourceMappingURL=data:application/json;base64,{base64.b64encode(data).decode()}"
    for line, column in ((1, 1), (1, 5), (2, 1), (10**9, 10**9)):
        found = original_position(text, line, column)
        assert min(found) >= 1
        str(found)


READERS = (
    Reader("run-file", run_file, json=True),
    Reader("summary", summary, json=True),
    Reader("journal-rows", journal_rows, json=True),
    Reader("journal-file", journal_file, max_bytes=8192),
    Reader("case-list", case_list, max_bytes=400),
    Reader("specifier", specifier, max_bytes=300),
    Reader("release-text", release_text, max_bytes=200),
    Reader("options", options, max_bytes=100),
    Reader("mounts", mounts, max_bytes=1000),
    Reader("redacted", redacted, max_bytes=1000),
    Reader("elf", elf),
    Reader("loader-cache", loader_cache, max_bytes=1000),
    Reader("source-map-json", map_of_source, json=True),
)
