"""Grade the recorded replies of a run again, offline: from the release and the replies alone, to the same digest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.plan import Trial
from trunchbuild.core.recorded import ReplyBook, TrialReply, reply_line
from trunchbuild.core.replies import total_tokens
from trunchbuild.core.summary import DEFAULT_MIN_COVERAGE, Summary, summarize
from trunchbuild.effects.files.api import Files
from trunchbuild.effects.journal.api import Journals, Spent
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError, Fault
from trunchbuild.flows.evaluate import cost_json, is_partial
from trunchbuild.flows.grade_trials import grade_trials
from trunchbuild.flows.read_cases import RunPlan, plan_run
from trunchbuild.flows.recorded_replies import missing_reply, replies_of_run
from trunchbuild.flows.run_folder import RunFile, write_outcome


class IncompleteRunError(BadInputError):
    """Trials of a run have no reply yet."""

    slug = "incomplete-run"


@dataclass(frozen=True, slots=True)
class GradeDoors:
    """The outside things that grading needs."""

    files: Files
    journals: Journals
    runtime: Callable[[], Runtime]
    """Asked for only when a release has an evaluator of its own to run."""


@dataclass(frozen=True, slots=True)
class RunHere:
    """A run, its folder, and the release that it was made of."""

    folder: Path
    file: RunFile
    release: ReleaseFiles
    plan: RunPlan


def grade_run(
    folder: Path, run_file: RunFile, release: ReleaseFiles, doors: GradeDoors, *, min_coverage: float | None = None
) -> Summary:
    """Grade a run's recorded replies and write its results, replies and summary anew.

    Raises:
        IncompleteRunError: A trial has no reply yet.
        BadInputError: The release is another one, or the replies hold trials that the run does not have.
    """
    spec = run_file.spec
    require_release(spec.release, release)
    plan = plan_run(release, spec)
    book = replies_of_run(folder, spec.run_id, doors.files, doors.journals)
    _require_complete(plan, book, folder)
    stated = run_file.record.get("min_coverage")
    if min_coverage is None:
        min_coverage = float(stated) if isinstance(stated, int | float) else DEFAULT_MIN_COVERAGE
    cost = _cost(folder, run_file, book, doors)
    run = RunHere(folder, run_file, release, plan)
    return grade_and_write(run, book, doors, min_coverage=min_coverage, cost=cost)


def grade_and_write(
    run: RunHere, book: ReplyBook, doors: GradeDoors, *, min_coverage: float, cost: JsonObject
) -> Summary:
    """Grade replies and write what came of it; a trial without one is a failed call."""
    spec = run.file.spec

    def reply_of(trial: Trial) -> TrialReply:
        return book.replies.get(trial) or missing_reply(trial)

    rows = grade_trials(run.release, run.plan, reply_of, doors.runtime)
    summary = summarize(spec, rows, partial=is_partial(run.release, spec), min_coverage=min_coverage)
    replies = (reply_line(reply_of(trial)) for trial in run.plan.askable)
    document = {**summary.json(), "cost": cost}
    write_outcome(run.folder, (row.line() for row in rows), replies, document, doors.files)
    return summary


def require_release(wanted: object, release: ReleaseFiles) -> None:
    """Refuse to grade by another release than the run's.

    Raises:
        BadInputError: It is another one.
    """
    if release.digest != wanted:
        raise BadInputError("not the release of this run", expected=str(wanted), got=str(release.digest))


def _require_complete(plan: RunPlan, book: ReplyBook, folder: Path) -> None:
    planned = set(plan.trials)
    faults = [Fault(str(trial), "a second reply") for trial in book.doubled]
    faults += [Fault(str(trial), "not a trial of this run") for trial in book.replies if trial not in planned]
    if faults:
        raise BadInputError(f"the replies in {folder} are not those of this run", faults=faults)
    missing = [trial for trial in plan.askable if trial not in book.replies]
    if missing:
        raise IncompleteRunError(
            f"{len(missing)} of {len(plan.askable)} trials have no reply yet",
            place=str(folder),
            got=f"none for {missing[0]}",
            hint="the command that began the run goes on with it",
        )


def _cost(folder: Path, run_file: RunFile, book: ReplyBook, doors: GradeDoors) -> JsonObject:
    """From the journal, which knows every try of every round; without it from the replies that count."""
    reader = doors.journals.read(folder, run_file.run_id)
    if reader is None:
        return cost_of(book.replies.values())
    with reader as journal:
        return cost_json(journal.spent())


def cost_of(replies: Iterable[TrialReply]) -> JsonObject:
    """What replies cost, as far as they say."""
    calls = unknown = tokens = 0
    for reply in replies:
        stated = total_tokens(reply.usage)
        calls += 1 + reply.retried
        unknown += reply.retried + (stated is None)
        tokens += stated or 0
    return cost_json(Spent(calls, unknown, tokens))
