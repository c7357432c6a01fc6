"""Results of a run: one row per trial, and the digest that two equal runs share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.plan import Trial
from trunchbuild.core.recorded import json_line
from trunchbuild.core.replies import Status
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.core.strict_json import read_json_lines

RESULTS_TYPE = "trunchbuild.results/v1"

STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one trial. Message and details are for people and stand outside the digest."""

    trial: Trial
    status: Status
    passed: bool | None
    """None where nothing was judged."""
    score: float | None
    """From 0 to 1, finite; None where nothing was judged."""
    reply_digest: Digest | None
    message: str | None = None
    details: Json = None

    @property
    def digested(self) -> JsonObject:
        """What the results digest covers of this row."""
        return {
            "eval": self.trial.eval,
            "id": self.trial.id,
            "repeat": self.trial.repeat,
            "status": self.status,
            "reply_digest": None if self.reply_digest is None else str(self.reply_digest),
            "passed": self.passed,
            # The canonical form of 1.0 is `1`; written as an integer it takes the quick way to its bytes.
            "score": int(self.score) if self.score is not None and self.score.is_integer() else self.score,
        }

    def json(self) -> JsonObject:
        """The row as `results.jsonl` holds it."""
        return {**self.digested, "message": self.message, "details": self.details}

    def line(self) -> bytes:
        r"""The line of `results.jsonl`, with its `\n`."""
        return json_line(self.json())


def results_digest(spec: RunSpec, rows: Iterable[Row]) -> Digest:
    """The digest of a run's results.

    SHA-256 over canonical JSON lines, each ended by LF: first `{"run": <spec>, "type": "trunchbuild.results/v1"}`, then
    per trial, sorted by eval, id and repeat, the members that `Row.digested` gives. Order of asking, concurrency,
    interruptions, messages, times and costs do not change it.
    """
    digest = hashlib.sha256(canonical_bytes({"type": RESULTS_TYPE, "run": spec.json()}) + b"\n")
    for row in sorted(rows, key=lambda row: row.trial):
        digest.update(canonical_bytes(row.digested) + b"\n")
    return Digest(digest.hexdigest())


def read_results(lines: Iterable[bytes], place: str) -> Iterator[tuple[int, Row]]:
    """Read the lines of `results.jsonl`: line number from 1, and the row.

    Raises:
        BadInputError: A line is not of that form.
    """
    for number, value in read_json_lines(lines, place):
        yield number, _read_row(Fields(value, f"{place}:{number}"))


def _read_row(fields: Fields) -> Row:
    trial = Trial(fields.text("eval"), fields.text("id"), fields.integer("repeat"))
    name = fields.text("status")
    status = next((known for known in STATUSES if known == name), None)
    if status is None:
        raise fields.wrong("status", " or ".join(f"`{known}`" for known in STATUSES), ascii(name))
    digest = fields.take("reply_digest")
    passed = fields.take("passed")
    if passed is not None and not isinstance(passed, bool):
        raise fields.wrong("passed", "true, false or null", ascii(passed))
    score = fields.take("score")
    if isinstance(score, bool) or (score is not None and not isinstance(score, int | float)):
        raise fields.wrong("score", "a number or null", ascii(score))
    message = fields.take("message")
    row = Row(
        trial=trial,
        status=status,
        passed=passed,
        score=None if score is None else float(score),
        reply_digest=None if digest is None else Digest.parse(str(digest)),
        message=None if message is None else str(message),
        details=fields.take("details"),
    )
    fields.end()
    return row
