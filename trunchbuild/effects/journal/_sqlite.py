"""A run's journal as one SQLite database: write-ahead log, `synchronous=FULL`, grouped commits in a thread.

`docs/decisions/0009-sqlite-journal.md`. The folder itself is locked (flock), since a lock on the database file would be
lost whenever anything in this process closes that file.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from trunchbuild.core.ids import Digest
from trunchbuild.core.plan import Recorded, Trial
from trunchbuild.core.replies import total_tokens
from trunchbuild.effects.journal._mounts import file_system, is_network
from trunchbuild.effects.journal.api import (
    GROUP_REPLIES,
    GROUP_SECONDS,
    JOURNAL,
    Journal,
    JournalError,
    JournalReader,
    RunLockedError,
    Spent,
    StepRecord,
)

APPLICATION_ID = 0x54624A31
FORMAT = 1
"""`user_version` of the database."""

_SMALLEST_DATABASE = 512
"""Bytes: one page of the smallest size (sqlite.org/fileformat.html, 1.3.2)."""
_FRESH = "`--fresh` moves the old run aside and begins anew"

_SCHEMA = """
CREATE TABLE run (id TEXT NOT NULL) STRICT;
CREATE TABLE step (
  eval TEXT NOT NULL,
  id TEXT NOT NULL,
  repeat INTEGER NOT NULL,
  round INTEGER NOT NULL,
  step INTEGER NOT NULL,
  final INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  request BLOB,
  http_status INTEGER,
  body BLOB,
  failure TEXT,
  started TEXT NOT NULL,
  latency_ms REAL NOT NULL,
  usage TEXT,
  retried TEXT NOT NULL,
  origin TEXT NOT NULL,
  UNIQUE (eval, id, repeat, round, step)
) STRICT;
"""
_COLUMNS = (
    "eval, id, repeat, round, step, final, failed, request, http_status, body, failure, started, latency_ms, usage,"
    " retried, origin"
)
_INSERT = f"INSERT INTO step ({_COLUMNS}) VALUES ({', '.join('?' * 16)})"  # noqa: S608 - constants


class SqliteJournals:
    """`Journals` in SQLite databases."""

    def in_use(self, folder: Path) -> bool:
        """See `Journals`."""
        try:
            with _locked(folder):
                return False
        except RunLockedError:
            return True

    def open(self, folder: Path, run: Digest) -> AbstractContextManager[Journal]:
        """See `Journals`."""
        return _opened(folder, run)

    def read(self, folder: Path, run: Digest) -> AbstractContextManager[JournalReader] | None:
        """See `Journals`."""
        return _opened_for_reading(folder, run) if (folder / JOURNAL).exists() else None


@contextmanager
def _opened(folder: Path, run: Digest) -> Iterator[Journal]:
    with _locked(folder):
        kind = file_system(folder)
        if kind is not None and is_network(kind):
            raise JournalError(
                "a run cannot be kept on a network file system",
                place=str(folder),
                got=f"`{kind}`",
                hint="SQLite's locks do not hold there: use `--out` with a local folder and copy the run afterwards",
            )
        with _database_errors(folder), closing(_connect(folder, run)) as database:
            journal = _SqliteJournal(database, folder)
            try:
                yield journal
            finally:
                journal.close()


@contextmanager
def _opened_for_reading(folder: Path, run: Digest) -> Iterator[JournalReader]:
    file = folder / JOURNAL
    # A database that nobody has open needs no lock files, so that a run in a read-only folder can be read too.
    alone = not (folder / f"{JOURNAL}-wal").exists()
    with _database_errors(folder):
        database = sqlite3.connect(f"{file.absolute().as_uri()}?{'immutable=1' if alone else 'mode=rw'}", uri=True)
        with closing(database):
            _check(database, file, run)
            yield _SqliteReader(database)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise JournalError(f"the run's folder cannot be opened: {error.strerror}", place=str(folder)) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunLockedError(
                "another process is running this run",
                place=str(folder),
                hint="wait for it to end, or end it; what it has committed stays",
            ) from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _database_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise JournalError(f"the journal cannot be used: {error}", place=str(folder / JOURNAL)) from error


def _connect(folder: Path, run: Digest) -> sqlite3.Connection:
    """Open the database, begin it where it is new, and check whose it is."""
    file = folder / JOURNAL
    if file.exists() and 0 < file.stat().st_size < _SMALLEST_DATABASE:
        # SQLite would take such a file for an empty one and write over it.
        raise JournalError("not a journal, or a damaged one", place=str(file), hint=_FRESH)
    database = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    try:
        new = _is_empty(database)
        if not new:
            _check(database, file, run)
        mode = database.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise JournalError("the file system cannot hold a journal", place=str(file), expected="wal", got=str(mode))
        database.execute("PRAGMA synchronous=FULL")
        if new:
            database.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA application_id={APPLICATION_ID}")
            database.execute(f"PRAGMA user_version={FORMAT}")
            database.execute("INSERT INTO run (id) VALUES (?)", (str(run),))
            database.execute("COMMIT")
    except BaseException:
        database.close()
        raise
    return database


def _is_empty(database: sqlite3.Connection) -> bool:
    """Whether nothing was ever committed here: a new file, or one whose first process was killed at once."""
    try:
        return bool(database.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])
    except sqlite3.DatabaseError:
        return False


def _check(database: sqlite3.Connection, file: Path, run: Digest) -> None:
    """Refuse what is not this run's journal, whole and of a format that this build reads."""
    try:
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise JournalError("not a journal of trunchbuild", place=str(file), hint=_FRESH)
        if version != FORMAT:
            raise JournalError(
                "a journal of another version of trunchbuild",
                place=str(file),
                expected=f"format {FORMAT}",
                got=f"format {version}",
                hint="the version that wrote it can resume and read it",
            )
        state = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        if state != "ok":
            raise JournalError("the journal is damaged", place=str(file), got=str(state), hint=_FRESH)
        owner = database.execute("SELECT id FROM run").fetchone()
    except sqlite3.DatabaseError as error:
        raise JournalError("not a journal, or a damaged one", place=str(file), got=str(error), hint=_FRESH) from None
    if owner is None or owner[0] != str(run):
        raise JournalError(
            "the journal belongs to another run",
            place=str(file),
            expected=str(run),
            got=str(owner[0] if owner else None),
            hint=_FRESH,
        )


class _SqliteReader:
    """`JournalReader` over a connection."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def recorded(self) -> Mapping[Trial, Recorded]:
        """See `JournalReader`."""
        states: dict[Trial, Recorded] = {}
        rows = self._database.execute("SELECT eval, id, repeat, final, failed FROM step ORDER BY round, step")
        for eval_id, case_id, repeat, final, failed in rows:
            states[Trial(eval_id, case_id, repeat)] = "incomplete" if not final else "failed" if failed else "answered"
        return states

    def rounds(self) -> Mapping[Trial, int]:
        """See `JournalReader`."""
        rows = self._database.execute("SELECT eval, id, repeat, max(round) FROM step GROUP BY eval, id, repeat")
        return {Trial(eval_id, case_id, repeat): latest for eval_id, case_id, repeat, latest in rows}

    def steps(self, trial: Trial) -> list[StepRecord]:
        """See `JournalReader`."""
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM step WHERE eval = ?1 AND id = ?2 AND repeat = ?3 AND round ="  # noqa: S608
            " (SELECT max(round) FROM step WHERE eval = ?1 AND id = ?2 AND repeat = ?3) ORDER BY step",
            (trial.eval, trial.id, trial.repeat),
        )
        return [_record(row) for row in rows]

    def records(self) -> Iterator[StepRecord]:
        """See `JournalReader`."""
        for row in self._database.execute(f"SELECT {_COLUMNS} FROM step ORDER BY rowid"):  # noqa: S608
            yield _record(row)

    def dropped(self) -> frozenset[Trial]:
        """See `JournalReader`."""
        rows = self._database.execute(
            "SELECT eval, id, repeat FROM step AS mine WHERE request IS NULL AND round = (SELECT max(round) FROM step"
            " WHERE eval = mine.eval AND id = mine.id AND repeat = mine.repeat)"
        )
        return frozenset(Trial(*row) for row in rows)

    def spent(self) -> Spent:
        """See `JournalReader`."""
        calls = unknown = tokens = 0
        for usage, retried in self._database.execute("SELECT usage, json_array_length(retried) FROM step"):
            stated = total_tokens(json.loads(usage)) if usage else None
            calls += 1 + retried
            unknown += retried + (stated is None)
            tokens += stated or 0
        return Spent(calls, unknown, tokens)


class _SqliteJournal(_SqliteReader):
    """`Journal`: groups what it is given and commits each group in one thread of its own."""

    def __init__(self, database: sqlite3.Connection, folder: Path) -> None:
        super().__init__(database)
        self._file = folder / JOURNAL
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._group: list[tuple[object, ...]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._commits: set[asyncio.Future[None]] = set()
        self._error: JournalError | None = None

    def record(self, step: StepRecord) -> None:
        """See `Journal`."""
        if self._error is not None:
            raise self._error
        self._group.append(_row(step))
        if len(self._group) >= GROUP_REPLIES:
            self._commit_soon()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(GROUP_SECONDS, self._commit_soon)

    async def flush(self) -> None:
        """See `Journal`."""
        self._commit_soon()
        while self._commits:
            await asyncio.wait(set(self._commits))
        if self._error is not None:
            raise self._error

    def drop_replies(self) -> None:
        """See `Journal`."""
        self._database.execute("PRAGMA secure_delete=ON")
        self._database.execute("UPDATE step SET request = NULL, body = NULL")
        self._database.execute("VACUUM")
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Commit what is left (the event loop may have ended already) and stop the thread."""
        if self._timer is not None:
            self._timer.cancel()
        group, self._group = self._group, []
        self._thread.submit(self._commit, group).result()
        self._thread.shutdown()

    def _commit_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._group:
            group, self._group = self._group, []
            commit = asyncio.get_running_loop().run_in_executor(self._thread, self._commit, group)
            self._commits.add(commit)
            commit.add_done_callback(self._committed)

    def _committed(self, commit: asyncio.Future[None]) -> None:
        self._commits.discard(commit)
        if not commit.cancelled() and isinstance(error := commit.exception(), JournalError):
            self._error = error

    def _commit(self, group: Sequence[tuple[object, ...]]) -> None:
        if not group:
            return
        try:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(_INSERT, group)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise JournalError(
                f"replies cannot be written to the journal: {error}",
                place=str(self._file),
                hint="what was committed before stays; the same command goes on from there",
            ) from error


def _row(step: StepRecord) -> tuple[object, ...]:
    trial = step.trial
    return (
        trial.eval,
        trial.id,
        trial.repeat,
        step.round,
        step.step,
        step.final,
        step.failed,
        step.request,
        step.http_status,
        step.body,
        step.failure,
        step.started,
        step.latency_ms,
        None if step.usage is None else json.dumps(step.usage),
        json.dumps(step.retried),
        step.origin,
    )


def _record(row: Sequence[object]) -> StepRecord:
    eval_id, case_id, repeat, round_, step, final, failed, request, status, body, failure, started, latency, *rest = row
    usage, retried, origin = rest
    return StepRecord(
        trial=Trial(eval_id, case_id, repeat),  # type: ignore[arg-type]
        round=round_,  # type: ignore[arg-type]
        step=step,  # type: ignore[arg-type]
        final=bool(final),
        failed=bool(failed),
        request=request,  # type: ignore[arg-type]
        http_status=status,  # type: ignore[arg-type]
        body=body,  # type: ignore[arg-type]
        failure=failure,  # type: ignore[arg-type]
        started=started,  # type: ignore[arg-type]
        latency_ms=latency,  # type: ignore[arg-type]
        usage=json.loads(usage) if isinstance(usage, str) else None,
        retried=json.loads(retried),  # type: ignore[arg-type]
        origin=origin,  # type: ignore[arg-type]
    )
