"""The grading pass: recorded replies and the private part become rows. No request is made from here on."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite

from trunchbuild.core.grading import grader, resolve_kind
from trunchbuild.core.ids import CaseId
from trunchbuild.core.json_types import Json
from trunchbuild.core.manifest import PRIVATE
from trunchbuild.core.plan import Trial
from trunchbuild.core.private_case import PrivateCase
from trunchbuild.core.recorded import TrialReply
from trunchbuild.core.replies import Answer, Refused, ToolCall, Unscored, classify
from trunchbuild.core.results import Row
from trunchbuild.effects.runtime.api import EvaluatorCall, EvaluatorFailure, EvaluatorOutcome, Runtime
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError
from trunchbuild.flows.read_cases import RunPlan
from trunchbuild.flows.release_modules import ReleaseModules

CUSTOM = "custom"

ReplyOf = Callable[[Trial], TrialReply]
"""Finds the recorded reply of a trial; one that stands for nothing where there is none."""


class PrivatePartMissingError(BadInputError):
    """A release without its private part cannot be graded by."""

    slug = "private-part-withheld"


@dataclass(slots=True)
class _Waiting:
    """Answers for one evaluator of the repository, and where their rows go."""

    calls: list[EvaluatorCall] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)


def grade_trials(
    release: ReleaseFiles,
    plan: RunPlan,
    reply_of: ReplyOf,
    runtime: Callable[[], Runtime],
    *,
    standing: Mapping[Trial, Row] | None = None,
) -> list[Row]:
    """One row per trial of the plan, in its order.

    `runtime` is asked for only where a case has an evaluator of its repository. Rows in `standing` stay as they are:
    their replies were not kept.

    Raises:
        PrivatePartMissingError: The private part is withheld.
        BadInputError: The release's files are not what its manifest says.
    """
    require_gradable(release, frozenset(trial.eval for trial in plan.trials))
    rows: list[Row] = []
    waiting: dict[str, _Waiting] = {}
    trials: dict[CaseId, list[Trial]] = {}
    for trial in plan.trials:
        trials.setdefault(trial.case, []).append(trial)
    for private in _private_cases(release, trials):
        for trial in trials[private.case]:
            if standing and trial in standing:
                rows.append(standing[trial])
                continue
            if trial.case in plan.need_environment:
                rows.append(Row(trial, "needs_environment", None, None, None, "the case needs an environment"))
                continue
            reply = reply_of(trial)
            row, call = _grade(trial, reply, private)
            if call is not None:
                queue = waiting.setdefault(private.case.eval, _Waiting())
                queue.calls.append(call)
                queue.rows.append(len(rows))
            rows.append(row)
    if [row.trial for row in rows] != list(plan.trials):
        raise BadInputError("public and private part do not hold the same cases in the same order", place=PRIVATE)
    for eval_id, queue in waiting.items():
        outcomes = _custom_outcomes(release, eval_id, queue.calls, runtime())
        for index, outcome in zip(queue.rows, outcomes, strict=True):
            rows[index] = _with_outcome(rows[index], outcome)
    return rows


def require_gradable(release: ReleaseFiles, evals: Container[str]) -> None:
    """Check what the public part tells about grading, so that nobody pays for replies that cannot be graded.

    Raises:
        PrivatePartMissingError: The private part is withheld.
        BadInputError: An eval uses an evaluator, or a number of one, that this build does not have.
    """
    if not release.has_private():
        raise PrivatePartMissingError(
            "the release's private part is withheld",
            place=PRIVATE,
            hint="who holds it can grade; `trunchbuild eval --no-grade` only asks",
        )
    for entry in release.manifest.evals:
        for use in entry.evaluators if entry.id in evals else ():
            if use.module is None:
                resolve_kind(use.kind)


def _private_cases(release: ReleaseFiles, wanted: Container[CaseId]) -> Iterator[PrivateCase]:
    for number, line in enumerate(release.lines(PRIVATE), 1):
        private = PrivateCase.parse(line, f"{PRIVATE}:{number}")
        if private.case in wanted:
            yield private


def _grade(trial: Trial, reply: TrialReply, private: PrivateCase) -> tuple[Row, EvaluatorCall | None]:
    """The trial's row; where an evaluator of the repository must judge, the call, and a row that waits for it."""
    outcome = classify(reply.step)
    digest = reply.digest
    match outcome:
        case Unscored():
            return Row(trial, outcome.status, None, None, digest, outcome.message), None
        case Refused():
            return Row(trial, "refused", False, 0.0, digest, "the model refused"), None
        case Answer():
            if private.kind == CUSTOM:
                call = EvaluatorCall(private.case.id, outcome.output, private.data, _calls_json(outcome.tool_calls))
                return Row(trial, "grader_error", None, None, digest), call
            verdict = grader(private.evaluate)(outcome.output)
            row = Row(trial, "scored", verdict.passed, verdict.score, digest, verdict.message, verdict.details)
            return row, None


def _calls_json(calls: tuple[ToolCall, ...]) -> Json:
    return [{"name": call.name, "arguments": call.arguments} for call in calls]


def _custom_outcomes(
    release: ReleaseFiles, eval_id: str, calls: list[EvaluatorCall], runtime: Runtime
) -> Iterator[EvaluatorOutcome]:
    uses = [use for use in release.manifest.eval(eval_id).evaluators if use.module is not None]
    if len(uses) != 1 or uses[0].module is None or uses[0].member is None:
        raise BadInputError("the manifest names no evaluator module for cases that need one", place=f"eval {eval_id}")
    graph = ReleaseModules(release).graph(uses[0].module, runtime)
    return runtime.evaluate(graph, uses[0].member, calls)


def _with_outcome(row: Row, outcome: EvaluatorOutcome) -> Row:
    """A failure of the evaluator is never a score, and neither is a number that is none."""
    if isinstance(outcome, EvaluatorFailure):
        return Row(row.trial, "grader_error", None, None, row.reply_digest, outcome.reason)
    if not isfinite(outcome.score) or not 0 <= outcome.score <= 1:
        reason = f"the evaluator gave the score {outcome.score}, which is not from 0 to 1"
        return Row(row.trial, "grader_error", None, None, row.reply_digest, reason)
    return Row(
        row.trial, "scored", outcome.passed, float(outcome.score), row.reply_digest, outcome.message, outcome.details
    )
