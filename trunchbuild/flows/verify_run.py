"""Verify a run, offline: do its results follow from its recorded replies, and are they complete?

It shows consistency and completeness, not the honesty of an endpoint: `docs/what-verify-proves.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trunchbuild.core.checks import CheckReport, CheckResult, judged, left_open
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.plan import Trial
from trunchbuild.core.recorded import ReplyBook, TrialReply
from trunchbuild.core.requests import request_body
from trunchbuild.core.results import Row, read_results, results_digest
from trunchbuild.core.run_checks import (
    RUN_CHECKS,
    completeness,
    document_faults,
    reply_faults,
    row_faults,
    status_faults,
    verdict_faults,
)
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.summary import summarize
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError, CheckedNoError, Fault, MachineError, TrunchbuildError
from trunchbuild.flows.evaluate import is_partial
from trunchbuild.flows.grade import GradeDoors
from trunchbuild.flows.grade_trials import PrivatePartMissingError, grade_trials
from trunchbuild.flows.read_cases import RunPlan, effective_cases, plan_run
from trunchbuild.flows.recorded_replies import from_file, from_journal, missing_reply
from trunchbuild.flows.run_folder import REPLIES, RESULTS, SUMMARY, RunFile, read_run_file


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a run's folder holds, as far as it could be read."""

    rows: tuple[Row, ...]
    doubled_rows: tuple[Trial, ...]
    replies: ReplyBook | None
    """None where they were not kept."""
    summary: JsonObject


def verify_run(
    folder: Path,
    find_release: Callable[[Digest], ReleaseFiles | None],
    doors: GradeDoors,
    *,
    claimed: Digest | None = None,
) -> CheckReport:
    """Make all checks of a run, each named, with what was expected and what was found.

    `find_release` opens a release by its digest, or says None where it is not here. `claimed` is the results digest
    that somebody states. Nothing is written.
    """
    try:
        run_file = read_run_file(folder, doors.files)
    except BadInputError as error:
        return _report(
            folder, None, [_no(1, error), *(_open(number, "the run cannot be read") for number in range(2, 10))]
        )
    checks = [_yes(1, str(run_file.run_id))]
    release = find_release(run_file.spec.release)
    if release is not None and release.digest != run_file.spec.release:
        fault = Fault("", "not the release of this run", str(run_file.spec.release), str(release.digest))
        rest = (_open(number, "the run's own release is not here") for number in range(3, 10))
        return _report(folder, None, [*checks, _judged(2, [fault]), *rest])
    if release is None:
        wanted = str(run_file.spec.release)
        note = f"{wanted} is not in the store: `trunchbuild import` it, or say where it is: --release FOLDER"
        rest = (_open(number, "the release is not here") for number in range(3, 10))
        return _report(folder, None, [*checks, _open(2, note), *rest])
    try:
        plan = plan_run(release, run_file.spec)
    except (BadInputError, CheckedNoError) as error:
        rest = (_open(number, "the release does not hold this run") for number in range(3, 10))
        return _report(folder, None, [*checks, _no(2, error), *rest])
    checks.append(_yes(2, str(release.digest)))
    try:
        evidence = _read_evidence(folder, doors)
    except BadInputError as error:
        rest = (_open(number, "the run's files cannot be read") for number in range(4, 10))
        answer = _no(3, error)
        if not doors.files.exists(folder / RESULTS):
            answer = replace(answer, note="no results yet: the command that began the run goes on with it and grades")
        return _report(folder, None, [*checks, answer, *rest])
    run = _RunUnderCheck(folder, run_file, release, plan, evidence, doors)
    digest = results_digest(run_file.spec, evidence.rows)
    checks += [run.complete(), run.requests(), run.statuses(), run.verdicts(), run.figures()]
    checks += [run.digest(digest, claimed), run.journal()]
    notes = [] if claimed is not None else ["nobody claimed this digest: compare it with one from elsewhere"]
    if run_file.spec.imported:
        notes.append("imported replies: who made them, and how they were asked for, is not known")
    if run_file.partial:
        notes.append("a partial run: not all cases of the release")
    return _report(folder, digest, checks, notes)


def _read_evidence(folder: Path, doors: GradeDoors) -> _Evidence:
    files = doors.files
    rows: dict[Trial, Row] = {}
    doubled: list[Trial] = []
    for _, row in read_results(files.lines(folder / RESULTS), RESULTS):
        if row.trial in rows:
            doubled.append(row.trial)
        rows.setdefault(row.trial, row)
    replies = from_file(folder, files) if files.exists(folder / REPLIES) else None
    summary = Fields(read_json(files.read(folder / SUMMARY), SUMMARY), SUMMARY)
    return _Evidence(
        tuple(rows.values()), tuple(doubled), replies, {name: summary.take(name) for name in summary.names()}
    )


@dataclass(frozen=True, slots=True)
class _RunUnderCheck:
    """The checks that need the release and the run's files."""

    _folder: Path
    _file: RunFile
    _release: ReleaseFiles
    _plan: RunPlan
    _evidence: _Evidence
    _doors: GradeDoors

    @property
    def _replies(self) -> Mapping[Trial, TrialReply]:
        return {} if self._evidence.replies is None else self._evidence.replies.replies

    def complete(self) -> CheckResult:
        """(3) Every trial once, and nothing else."""
        evidence = self._evidence
        rows = [row.trial for row in evidence.rows]
        faults = completeness(self._plan.trials, rows, evidence.doubled_rows, RESULTS)
        if evidence.replies is not None:
            faults += completeness(self._plan.askable, evidence.replies.replies, evidence.replies.doubled, REPLIES)
        stated = self._file.partial
        if stated != is_partial(self._release, self._file.spec):
            faults.append(
                Fault("run.json/partial", "not what the spec says", str(not stated).lower(), str(stated).lower())
            )
        return _judged(3, faults, f"{len(self._plan.trials)} trials")

    def requests(self) -> CheckResult:
        """(4) Requests are a pure function of case and spec."""
        if self._file.spec.imported:
            return _nothing_to_check(4, "imported replies hold no requests")
        if self._evidence.replies is None:
            return _open(4, _NOT_KEPT)
        return _judged(4, self._request_faults())

    def _request_faults(self) -> Iterator[Fault]:
        spec = self._file.spec
        wanted = frozenset(trial.case for trial in self._plan.askable)
        for case in effective_cases(self._release, self._plan, wanted):
            for repeat in range(spec.repeat):
                reply = self._replies.get(Trial(case.case.eval, case.case.id, repeat))
                if reply is None:
                    continue
                right = hashlib.sha256(request_body(case, spec, repeat)).hexdigest()
                if reply.request_sha256 != right:
                    yield Fault(str(reply.trial), "request", right, str(reply.request_sha256))

    def statuses(self) -> CheckResult:
        """(5) Nobody relabels a wrong answer as truncated."""
        faults = list(row_faults(self._evidence.rows))
        if self._evidence.replies is None:
            return _judged(5, faults) if faults else _open(5, _NOT_KEPT)
        left_out = frozenset(self._plan.trials).difference(self._plan.askable)
        return _judged(5, faults + status_faults(self._evidence.rows, self._replies, left_out))

    def verdicts(self) -> CheckResult:
        """(6) The release's evaluators say the same again."""
        if self._evidence.replies is None:
            return _open(6, _NOT_KEPT)

        def reply_of(trial: Trial) -> TrialReply:
            return self._replies.get(trial) or missing_reply(trial)

        try:
            fresh = grade_trials(self._release, self._plan, reply_of, self._doors.runtime)
        except (PrivatePartMissingError, MachineError) as error:
            return _open(6, str(error))
        except (BadInputError, CheckedNoError) as error:
            return _no(6, error)
        graded = {row.trial: row for row in fresh if row.trial in self._replies or row.status == "needs_environment"}
        return _judged(6, verdict_faults(self._evidence.rows, graded))

    def figures(self) -> CheckResult:
        """(7) Totals follow from rows."""
        stated = self._evidence.summary.get("min_coverage")
        if isinstance(stated, bool) or not isinstance(stated, int | float) or not 0 <= stated <= 1:
            return _judged(7, [Fault(f"{SUMMARY}/min_coverage", "wrong value", "a number from 0 to 1", str(stated))])
        spec = self._file.spec
        right = summarize(spec, self._evidence.rows, partial=is_partial(self._release, spec), min_coverage=stated)
        document = {name: value for name, value in right.json().items() if name != "results_digest"}
        return _judged(7, document_faults(document, self._evidence.summary, SUMMARY))

    def digest(self, digest: Digest, claimed: Digest | None) -> CheckResult:
        """(8) The digest over spec and rows."""
        faults: list[Fault] = []
        stated = self._evidence.summary.get("results_digest")
        if stated != str(digest):
            faults.append(Fault(f"{SUMMARY}/results_digest", "recomputes to another value", str(digest), str(stated)))
        if claimed is not None and claimed != digest:
            faults.insert(0, Fault("", "the results digest is not the one claimed", str(claimed), str(digest)))
        return _judged(8, faults, None if faults else str(digest))

    def journal(self) -> CheckResult:
        """(9) The journal is the record that the files were made from."""
        try:
            reader = self._doors.journals.read(self._folder, self._file.run_id)
            if reader is None:
                return _nothing_to_check(9, "no journal here")
            with reader as journal:
                dropped = journal.dropped()
                kept = [trial for trial in self._plan.askable if trial in self._replies and trial not in dropped]
                recorded = {reply.trial: reply for reply in from_journal(journal, kept)}
        except TrunchbuildError as error:
            return _no(9, error)
        return _judged(9, reply_faults(self._replies, recorded, kept))


_NOT_KEPT = "the replies of this run were not kept"


def _judged(number: int, faults: Iterable[Fault], got: str | None = None) -> CheckResult:
    return judged(number, RUN_CHECKS[number], faults, got=got)


def _yes(number: int, got: str) -> CheckResult:
    return judged(number, RUN_CHECKS[number], (), got=got)


def _no(number: int, error: TrunchbuildError) -> CheckResult:
    return judged(number, RUN_CHECKS[number], error.faults)


def _open(number: int, note: str) -> CheckResult:
    return left_open(number, RUN_CHECKS[number], note)


def _nothing_to_check(number: int, note: str) -> CheckResult:
    return judged(number, RUN_CHECKS[number], (), note=note)


def _report(folder: Path, digest: Digest | None, checks: list[CheckResult], notes: Iterable[str] = ()) -> CheckReport:
    return CheckReport(str(folder), None if digest is None else str(digest), tuple(checks), notes=tuple(notes))
