"""Run a model against a release: plan, ask what is missing, grade, write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.plan import Recorded, Trial, remaining, strangers
from trunchbuild.core.recorded import TrialReply, reply_line
from trunchbuild.core.release import shown
from trunchbuild.core.requests import request_body
from trunchbuild.core.results import Row, read_results
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.core.summary import Summary, summarize
from trunchbuild.effects.endpoint.api import Endpoints
from trunchbuild.effects.files.api import Files
from trunchbuild.effects.journal.api import Journal, JournalReader, Journals, RunLockedError, Spent
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError
from trunchbuild.flows.ask import Asking, ask_all, questions
from trunchbuild.flows.grade_trials import grade_trials, require_gradable
from trunchbuild.flows.read_cases import RunPlan, effective_cases, plan_run
from trunchbuild.flows.recorded_replies import DroppedRepliesError, from_journal, missing_reply, reply_of, to_ask_again
from trunchbuild.flows.run_folder import (
    REPLIES,
    RESULTS,
    SUMMARY,
    RunFile,
    begin_run,
    run_folder,
    write_outcome,
)

_KEPT_BYTES = 32 << 20


class Progress(Protocol):
    """Shows how far a run is."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """So many trials more are done."""
        ...


ShowProgress = Callable[[str, int], AbstractContextManager[Progress]]
"""Label and number of trials -> a bar for as long as they are asked."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is made; only the spec is part of what it is."""

    spec: RunSpec
    out: Path
    asking: Asking
    record: JsonObject
    """How and where it is made, for `run.json`; no secrets."""
    min_coverage: float
    save_replies: bool = True
    retry_failed: bool = False
    fresh: bool = False
    grade: bool = True


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a session of a run did."""

    folder: Path
    asked: int
    """Trials that were asked in this session."""
    summary: Summary | None
    """None where grading was not wanted."""
    cost: JsonObject
    moved_to: Path | None = None
    """Where `fresh` put the old run."""


@dataclass(frozen=True, slots=True)
class Doors:
    """The outside things that a run needs."""

    endpoints: Callable[[], Endpoints]
    """Asked for only when there is something to ask."""
    journals: Journals
    files: Files
    runtime: Callable[[], Runtime]
    """Asked for only when a release has an evaluator of its own to run."""
    progress: ShowProgress


def evaluate(release: ReleaseFiles, options: RunOptions, doors: Doors) -> RunOutcome:
    """Make or go on with a run.

    Raises:
        EndpointError: The endpoint stands in the way of the whole run; what was answered is committed.
        TokenBudgetError: The budget is used up.
        JournalError: The run is in use elsewhere, or its journal cannot be used.
        BadInputError: The release cannot be run or graded so.
    """
    spec, files = options.spec, doors.files
    if options.grade:
        require_gradable(release, spec.evals)
    run = _Run(release, plan_run(release, spec), options, doors)
    moved = run.move_aside() if options.fresh else None
    files.make_folder(run.folder)
    begin_run(run.folder, RunFile(spec, is_partial(release, spec), options.record), files)
    with doors.journals.open(run.folder, spec.run_id) as journal:
        asked = run.ask_missing(journal)
        cost = cost_json(journal.spent())
        summary = None
        if options.grade:
            # From here on the private part is read, and nothing is asked any more.
            summary = run.grade(journal, cost)
            if not options.save_replies:
                journal.drop_replies()
    return RunOutcome(run.folder, asked, summary, cost, moved)


def request_bodies(release: ReleaseFiles, spec: RunSpec) -> Iterator[tuple[Trial, bytes]]:
    """The exact request of every trial, in order; nothing is asked or written."""
    plan = plan_run(release, spec)
    for case in effective_cases(release, plan, frozenset(trial.case for trial in plan.askable)):
        for repeat in range(spec.repeat):
            yield Trial(case.case.eval, case.case.id, repeat), request_body(case, spec, repeat)


def is_partial(release: ReleaseFiles, spec: RunSpec) -> bool:
    """Whether a run leaves out cases of its release."""
    return spec.is_subset or len(spec.evals) < len(release.manifest.evals)


def cost_json(spent: Spent) -> JsonObject:
    """The cost of a run, as its summary states it; unknown is not zero."""
    return {"calls": spent.calls, "calls_of_unknown_usage": spent.calls_of_unknown_usage, "tokens": spent.tokens}


class _Run:
    """One run and its folder."""

    def __init__(self, release: ReleaseFiles, plan: RunPlan, options: RunOptions, doors: Doors) -> None:
        self._release = release
        self._plan = plan
        self._options = options
        self._doors = doors
        self.folder = run_folder(options.out, shown(release.manifest, release.digest), options.spec)

    def move_aside(self) -> Path | None:
        """Rename the folder of an old run; None where there is none."""
        if not self._doors.files.exists(self.folder):
            return None
        if self._doors.journals.in_use(self.folder):
            raise RunLockedError("another process is running this run", place=str(self.folder))
        return self._doors.files.move_aside(self.folder)

    def ask_missing(self, journal: Journal) -> int:
        """Ask the trials that have no reply, or are wanted again; returns their number."""
        spec, askable, asking = self._options.spec, self._plan.askable, self._options.asking
        recorded = journal.recorded()
        self._check_recorded(askable, recorded)
        again = to_ask_again(journal, askable) if self._options.retry_failed else frozenset()
        todo = remaining(askable, recorded, again=again)
        if not todo:
            return 0
        # What was written for fewer replies is no longer this run's outcome; rows of dropped replies must stay.
        stale = [REPLIES, SUMMARY] if journal.dropped() else [REPLIES, SUMMARY, RESULTS]
        self._doors.files.remove([self.folder / name for name in stale])
        cases = effective_cases(self._release, self._plan, frozenset(trial.case for trial in todo))
        rounds = journal.rounds() if recorded else {}
        with self._doors.progress(spec.model, len(todo)) as bar:
            ask_all(
                questions(cases, todo, rounds, spec),
                replace(asking, tokens_used=journal.spent().tokens),
                endpoints=self._doors.endpoints(),
                journal=journal,
                advance=lambda note: bar.advance(1, note),
            )
        return len(todo)

    def _check_recorded(self, askable: list[Trial], recorded: Mapping[Trial, Recorded]) -> None:
        unknown = strangers(askable, recorded)
        if unknown:
            raise BadInputError(
                "the journal holds trials that are not of this run", place=str(self.folder), got=str(unknown[0])
            )
        if not recorded and self._doors.files.exists(self.folder / RESULTS) and askable:
            raise BadInputError(
                "the run has results, but its journal is gone",
                place=str(self.folder),
                hint="`trunchbuild grade` grades its replies again; `--fresh` moves the run aside and begins anew",
            )

    def grade(self, journal: JournalReader, cost: JsonObject) -> Summary:
        """Grade what the journal holds and write results, replies and summary."""
        options, files = self._options, self._doors.files

        lines = _KeptLines()

        def recorded(trial: Trial) -> TrialReply:
            steps = journal.steps(trial)
            reply = reply_of(steps[-1]) if steps else missing_reply(trial)
            lines.add(reply_line(reply))
            return reply

        standing = _standing_rows(journal, self.folder, files)
        rows = grade_trials(self._release, self._plan, recorded, self._doors.runtime, standing=standing)
        partial = is_partial(self._release, options.spec)
        summary = summarize(options.spec, rows, partial=partial, min_coverage=options.min_coverage)
        replies: Iterable[bytes] | None = None
        if options.save_replies and not standing:
            again = (reply_line(reply) for reply in from_journal(journal, self._plan.askable))
            replies = again if lines.kept is None else lines.kept
        else:
            files.remove([self.folder / REPLIES])
        document = {**summary.json(), "cost": cost}
        write_outcome(self.folder, (row.line() for row in rows), replies, document, files)
        return summary


class _KeptLines:
    """The lines of `replies.jsonl` while grading reads every reply; given up where they would fill the memory."""

    def __init__(self) -> None:
        self.kept: list[bytes] | None = []
        self._bytes = 0

    def add(self, line: bytes) -> None:
        """Keep one more line."""
        self._bytes += len(line)
        if self._bytes > _KEPT_BYTES:
            self.kept = None
        if self.kept is not None:
            self.kept.append(line)


def _standing_rows(journal: JournalReader, folder: Path, files: Files) -> Mapping[Trial, Row]:
    """The rows of trials whose replies were dropped: they cannot be graded again."""
    dropped = journal.dropped()
    if not dropped:
        return {}
    rows = {row.trial: row for _, row in read_results(files.lines(folder / RESULTS), RESULTS)}
    lost = dropped.difference(rows)
    if lost:
        raise DroppedRepliesError(
            "the replies of this run were not kept, and its results are gone", place=str(folder), got=str(min(lost))
        )
    return {trial: rows[trial] for trial in dropped}
