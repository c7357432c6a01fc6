"""A run's journal as one SQLite database: write-ahead log, `synchronous=FULL`, grouped commits in a thread.

`docs/decisions/0009-sqlite-journal.md`. The folder itself is locked (flock), since a lock on the database file would be
lost whenever anything in this process closes that file.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from trunchbuild.core.file_locks import held_by, holders
from trunchbuild.core.ids import Digest
from trunchbuild.effects.journal._mounts import file_system, is_network
from trunchbuild.effects.journal._rows import COLUMNS, SqliteReader, first_damaged, forget_texts, row_of
from trunchbuild.effects.journal.api import (
    GROUP_REPLIES,
    GROUP_SECONDS,
    JOURNAL,
    Journal,
    JournalError,
    JournalReader,
    RunLockedError,
    StepRecord,
)

APPLICATION_ID = 0x54624A31
FORMAT = 2
"""`user_version` of the database."""

_OUTSIDE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
"""Errors that say nothing about what the file holds: a read-only folder, a full disk."""
_SMALLEST_DATABASE = 512
"""Bytes: one page of the smallest size (sqlite.org/fileformat.html, 1.3.2)."""
_PATIENCE = 1.0
"""Seconds to wait for another program that reads the database; no other run can have it."""
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
  sha256 BLOB NOT NULL,
  UNIQUE (eval, id, repeat, round, step)
) STRICT;
"""
_INSERT = f"INSERT INTO step ({COLUMNS}) VALUES ({', '.join('?' * 17)})"  # noqa: S608 - constants


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
            yield SqliteReader(database)


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
                got=_holders(descriptor),
                hint="wait for it to end, or end it; what it has committed stays",
            ) from None
        yield
    finally:
        os.close(descriptor)


def _holders(descriptor: int) -> str | None:
    """The processes that hold the lock of an open file; None where the machine does not say."""
    status = os.fstat(descriptor)
    try:
        table = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    return held_by(holders(table, (os.major(status.st_dev), os.minor(status.st_dev)), status.st_ino))


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
    database = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
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
    except (sqlite3.DatabaseError, UnicodeDecodeError):
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
        # Not `quick_check`, which leaves open whether the index leads to the rows: some answers come out of it alone.
        state = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if state != "ok":
            raise JournalError("the journal is damaged", place=str(file), got=str(state), hint=_FRESH)
        # Strict tables of our own columns: every value that is read has its type, also in a stranger's journal.
        tables = {sql for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        if tables != {statement.strip() for statement in _SCHEMA.split(";") if statement.strip()}:
            raise JournalError("the journal is damaged", place=str(file), got="other tables", hint=_FRESH)
        damaged = first_damaged(database)
        if damaged is not None:
            raise JournalError("the journal is damaged", place=str(file), got=damaged, hint=_FRESH)
        owner = database.execute("SELECT id FROM run").fetchone()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # A text that is no UTF-8 is Python's error, without a code; so is a message of SQLite's that repeats one.
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _OUTSIDE:
            raise
        raise JournalError("not a journal, or a damaged one", place=str(file), got=str(error), hint=_FRESH) from None
    if owner is None or owner[0] != str(run):
        raise JournalError(
            "the journal belongs to another run",
            place=str(file),
            expected=str(run),
            got=str(owner[0] if owner else None),
            hint=_FRESH,
        )


class _SqliteJournal(SqliteReader):
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
        self._group.append(row_of(step))
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
        self._database.execute("BEGIN IMMEDIATE")
        forget_texts(self._database)
        self._database.execute("COMMIT")
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
