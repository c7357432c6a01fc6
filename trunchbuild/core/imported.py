"""Replies made elsewhere: lines of `{"id", "response", "finish_reason"?, "eval"?, "repeat"?}` become trials' replies.

Further members are ignored, but for those with which our own `replies.jsonl` says more about a reply: `thinking` (or
`reasoning_content`), `tool_calls`, `refusal`, `error`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trunchbuild.core.fields import Fields, kind_of
from trunchbuild.core.ids import CaseId
from trunchbuild.core.json_types import Json
from trunchbuild.core.plan import Trial
from trunchbuild.core.recorded import TrialReply, read_calls
from trunchbuild.core.replies import Failure, Reply, Step, error_text, whole_text
from trunchbuild.core.strict_json import read_json_lines
from trunchbuild.errors import BadInputError, Fault


@dataclass(frozen=True, slots=True)
class ImportedReplies:
    """The replies, and how often each case was asked."""

    replies: tuple[TrialReply, ...]
    repeat: int


def read_imported(lines: Iterable[bytes], known: Sequence[CaseId], evals: Sequence[str], place: str) -> ImportedReplies:
    """Read the lines for the chosen evals. Repeats may be counted from 0 or from 1; a line without one is the first.

    Raises:
        BadInputError: Lines name no case, or more than one, or one trial twice, or have wrong values; all are listed.
    """
    by_id: dict[str, list[CaseId]] = {}
    for case in known:
        if case.eval in evals:
            by_id.setdefault(case.id, []).append(case)
    found: list[tuple[str, CaseId, int, Step]] = []
    faults: list[Fault] = []
    for number, value in read_json_lines(lines, place):
        at = f"{place}:{number}"
        try:
            fields = Fields(value, at)
            found.append((at, _case(fields, by_id, at), _repeat(fields), _step(fields)))
        except BadInputError as error:
            faults += error.faults
    counted = [repeat for _, _, repeat, _ in found if repeat >= 0]
    first = 1 if counted and min(counted) > 0 else 0
    replies, doubled = _by_trial(found, first)
    faults += doubled + _gaps(replies, place)
    if faults:
        raise BadInputError(f"{len(faults)} faults in the replies", faults=faults)
    if not replies:
        raise BadInputError("no replies", place=place, expected="one JSON object a line")
    return ImportedReplies(tuple(replies), max(reply.trial.repeat for reply in replies) + 1)


def _by_trial(found: Sequence[tuple[str, CaseId, int, Step]], first: int) -> tuple[list[TrialReply], list[Fault]]:
    places: dict[Trial, str] = {}
    replies: list[TrialReply] = []
    faults: list[Fault] = []
    for at, case, repeat, step in found:
        trial = Trial(case.eval, case.id, repeat - first if repeat >= 0 else 0)
        if trial in places:
            faults.append(
                Fault(at, "a second reply to one trial", got=str(trial), hint=f"the first is {places[trial]}")
            )
        places.setdefault(trial, at)
        replies.append(TrialReply(trial, step))
    return replies, faults


def _gaps(replies: Sequence[TrialReply], place: str) -> list[Fault]:
    """A repeat that no case has is a slip, and would make failed trials of every case."""
    numbers = {reply.trial.repeat for reply in replies}
    if not numbers or max(numbers) < len(numbers):
        return []
    got = f"{len(numbers)} numbers, of which the highest stands for repeat {max(numbers) + 1}"
    return [Fault(place, "repeats with a gap", "every number up to the highest one, from 0 or from 1", got)]


def _case(fields: Fields, by_id: Mapping[str, Sequence[CaseId]], at: str) -> CaseId:
    case_id = fields.text("id")
    eval_id = fields.optional("eval", fields.text)
    candidates = [case for case in by_id.get(case_id, ()) if eval_id is None or case.eval == eval_id]
    if len(candidates) == 1:
        return candidates[0]
    named = f"`{case_id}`" if eval_id is None else f"`{eval_id}/{case_id}`"
    if not candidates:
        raise BadInputError("no such case in the chosen evals", place=at, got=named)
    raise BadInputError(
        "more than one case of that id",
        place=at,
        expected=" or ".join(f"`{case}`" for case in candidates),
        got=named,
        hint="give `eval` in the line, or `--eval ID`",
    )


def _repeat(fields: Fields) -> int:
    """The number as the line states it; -1 where it does not."""
    return fields.integer("repeat") if fields.has("repeat") else -1


def _step(fields: Fields) -> Step:
    if fields.has("error") and (error := fields.take("error")) is not None:
        text = error if isinstance(error, str) else error_text({"error": error} if isinstance(error, Mapping) else None)
        return Failure("missing", f"the import states an error: {text}")
    response = _text(fields, fields.take("response"), "response")
    reason = _text(fields, fields.take("finish_reason"), "finish_reason") if fields.has("finish_reason") else None
    thinking = None
    for name in ("thinking", "reasoning_content"):
        if fields.has(name):
            thinking = thinking or _text(fields, fields.take(name), name) or None
    refusal = _text(fields, fields.take("refusal"), "refusal") if fields.has("refusal") else None
    calls = read_calls(fields) if fields.has("tool_calls") else ()
    return Reply(response, thinking, calls, refusal or None, reason)


def _text(fields: Fields, value: Json, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise fields.wrong(name, "a string or null", kind_of(value))
    return None if value is None else whole_text(value)
