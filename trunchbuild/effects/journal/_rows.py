"""The rows of a journal's table: written, read back, counted."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence

from trunchbuild.core.json_types import Json
from trunchbuild.core.plan import Recorded, Trial
from trunchbuild.core.replies import total_tokens
from trunchbuild.effects.journal.api import Spent, StepRecord

_VALUES = (
    "eval, id, repeat, round, step, final, failed, request, http_status, body, failure, started, latency_ms, usage,"
    " retried, origin"
)
COLUMNS = f"{_VALUES}, sha256"
"""The values of a call, and the digest over them: SQLite itself would not see a changed byte within a value."""


class SqliteReader:
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
            f"SELECT {_VALUES} FROM step WHERE eval = ?1 AND id = ?2 AND repeat = ?3 AND round ="  # noqa: S608
            " (SELECT max(round) FROM step WHERE eval = ?1 AND id = ?2 AND repeat = ?3) ORDER BY step",
            (trial.eval, trial.id, trial.repeat),
        )
        return [record_of(row) for row in rows]

    def records(self) -> Iterator[StepRecord]:
        """See `JournalReader`."""
        for row in self._database.execute(f"SELECT {_VALUES} FROM step ORDER BY rowid"):  # noqa: S608
            yield record_of(row)

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
            stated = total_tokens(_stored_json(usage)) if usage else None
            calls += 1 + retried
            unknown += retried + (stated is None)
            tokens += stated or 0
        return Spent(calls, unknown, tokens)


def row_of(step: StepRecord) -> tuple[object, ...]:
    """The values of `COLUMNS`."""
    trial = step.trial
    values = (
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
        float(step.latency_ms),
        None if step.usage is None else json.dumps(step.usage),
        json.dumps(step.retried) if step.retried else "[]",
        step.origin,
    )
    return (*values, digest_of(values))


def digest_of(values: Sequence[object]) -> bytes:
    """SHA-256 over the values of a row but its digest: each with its kind, its length and its bytes.

    A truth value is an integer and a number of milliseconds a float, as SQLite gives them back.
    """
    digest = hashlib.sha256()
    for value in values:
        kind, data = _as_bytes(value)
        digest.update(b"%s%d:" % (kind, len(data)))
        digest.update(data)
    return digest.digest()


def _as_bytes(value: object) -> tuple[bytes, bytes]:
    match value:
        case None:
            return b"n", b""
        case int():
            return b"i", b"%d" % value
        case float():
            return b"f", struct.pack(">d", value)
        case str():
            return b"t", value.encode()
        case bytes():
            return b"b", value
    raise AssertionError(type(value))


def first_damaged(database: sqlite3.Connection) -> str | None:
    """The first call whose values are not those that were written; None where all are."""
    rows = database.execute(f"SELECT {COLUMNS} FROM step ORDER BY rowid")  # noqa: S608 - constants
    for *values, sha256 in rows:
        if digest_of(values) != sha256:
            return f"the record of {values[0]}/{values[1]}, repeat {values[2]}, call {values[4]}"
    return None


def forget_texts(database: sqlite3.Connection) -> None:
    """Take the texts of all requests and replies out of the rows."""
    database.create_function("digest_of", 16, lambda *values: digest_of(values), deterministic=True)
    database.execute("UPDATE step SET request = NULL, body = NULL")
    database.execute(f"UPDATE step SET sha256 = digest_of({_VALUES})")  # noqa: S608 - constants


def record_of(row: Sequence[object]) -> StepRecord:
    """The call that a row of `COLUMNS` holds."""
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
        usage=_stored_json(usage) if isinstance(usage, str) else None,
        retried=_stored_json(retried),  # type: ignore[arg-type]
        origin=origin,  # type: ignore[arg-type]
    )


def _stored_json(text: str) -> Json:
    """A JSON text of ours; damage is reported as SQLite reports its own."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise sqlite3.DatabaseError(f"it is damaged: {error}") from None
    return value
