"""What is compared when a run is verified: pure functions over rows and replies; each difference is a fault by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.plan import Trial
from trunchbuild.core.recorded import TrialReply
from trunchbuild.core.replies import Answer, Refused, classify
from trunchbuild.core.results import Row
from trunchbuild.errors import Fault

RUN_CHECKS: Mapping[int, str] = {
    1: "run.json parses, and the run id is the digest of its spec",
    2: "the release is the one that the run names",
    3: "results and replies hold every case and repeat exactly once, and nothing else",
    4: "each recorded request is the one that spec and case make",
    5: "statuses and reply digests recompute from the recorded replies",
    6: "verdicts recompute by the release's evaluators",
    7: "figures recompute from the results",
    8: "the results digest recomputes, and is the one that is claimed",
    9: "the journal, where it is here, holds the same replies",
}


def completeness(planned: Sequence[Trial], found: Iterable[Trial], doubled: Iterable[Trial], what: str) -> list[Fault]:
    """Trials of a plan that are missing, doubled or strange in a file."""
    there = set(found)
    faults = [Fault(str(trial), f"{what}: stands more than once") for trial in doubled]
    faults += [Fault(str(trial), f"{what}: missing") for trial in planned if trial not in there]
    known = set(planned)
    faults += [Fault(str(trial), f"{what}: not a trial of this run") for trial in sorted(there - known)]
    return faults


def row_faults(rows: Iterable[Row]) -> Iterator[Fault]:
    """Rows that contradict themselves, whatever the reply was: a verdict belongs to an answer alone."""
    for row in rows:
        if row.status == "scored":
            if row.score is not None and not 0 <= row.score <= 1:
                yield Fault(str(row.trial), "score", "from 0 to 1", f"{row.score}")
            continue
        wanted = (False, 0.0) if row.status == "refused" else (None, None)
        if (row.passed, row.score) != wanted:
            expected = f"passed {_word(wanted[0])}, score {_word(wanted[1])} for `{row.status}`"
            yield Fault(str(row.trial), "verdict", expected, f"passed {_word(row.passed)}, score {_word(row.score)}")


def status_faults(rows: Iterable[Row], replies: Mapping[Trial, TrialReply], left_out: frozenset[Trial]) -> list[Fault]:
    """Rows whose status or reply digest does not follow from the reply: nobody relabels a wrong answer as truncated."""
    faults: list[Fault] = []
    for row in rows:
        reply = replies.get(row.trial)
        if row.trial in left_out:
            allowed: tuple[str, ...] = ("needs_environment",)
            digest: Digest | None = None
        elif reply is None:
            continue
        else:
            allowed, digest = _allowed(reply), reply.digest
        if row.status not in allowed:
            faults.append(Fault(str(row.trial), "status", " or ".join(allowed), row.status))
        if row.reply_digest != digest:
            faults.append(Fault(str(row.trial), "reply digest", str(digest), str(row.reply_digest)))
    return faults


def _allowed(reply: TrialReply) -> tuple[str, ...]:
    outcome = classify(reply.step)
    if isinstance(outcome, Answer):
        return ("scored", "grader_error")
    return ("refused",) if isinstance(outcome, Refused) else (outcome.status,)


def verdict_faults(rows: Iterable[Row], fresh: Mapping[Trial, Row]) -> list[Fault]:
    """Rows whose verdict is another one than grading gives."""
    faults: list[Fault] = []
    for row in rows:
        right = fresh.get(row.trial)
        if right is not None and _verdict(row) != _verdict(right):
            faults.append(Fault(str(row.trial), "verdict", _shown(right), _shown(row)))
    return faults


def _verdict(row: Row) -> tuple[bool, bool | None, float | None]:
    return row.status == "grader_error", row.passed, row.score


def _shown(row: Row) -> str:
    return f"{row.status}, passed {_word(row.passed)}, score {_word(row.score)}"


def _word(value: Json) -> str:
    return (
        {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else f"{value}"
    )


def document_faults(expected: JsonObject, got: JsonObject, place: str) -> Iterator[Fault]:
    """The members in which a document differs from what it should say; members beyond are left alone."""
    for name, right in expected.items():
        there = got.get(name)
        at = f"{place}/{name}"
        if isinstance(right, Mapping) and isinstance(there, Mapping):
            yield from document_faults(right, there, at)
        elif name not in got or not _same(right, there):
            yield Fault(at, "recomputes to another value", str(right), str(there) if name in got else "missing")


def _same(right: Json, there: Json) -> bool:
    if isinstance(right, bool) or isinstance(there, bool):
        return right is there
    if isinstance(right, float) and isinstance(there, int | float):
        # Sums of many terms may round otherwise on another machine; a figure that is off by more is another figure.
        return abs(right - there) <= 1e-12
    return right == there


def reply_faults(
    published: Mapping[Trial, TrialReply], recorded: Mapping[Trial, TrialReply], trials: Iterable[Trial]
) -> Iterator[Fault]:
    """Trials whose published reply is not the one that the journal recorded."""
    for trial in trials:
        if trial not in recorded:
            yield Fault(str(trial), "the reply", "one in the journal too", "none there")
        elif published[trial].step != recorded[trial].step:
            yield Fault(str(trial), "the reply", "as in the journal", "another one")
