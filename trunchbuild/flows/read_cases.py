"""A release's public part, read for a run. Nothing here opens the private part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trunchbuild.core.ids import CaseId
from trunchbuild.core.manifest import CASES
from trunchbuild.core.plan import MOST_TRIALS, Trial, chosen, trials
from trunchbuild.core.public_case import EffectiveCase, PublicCase, effective
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError, Fault

_KEPT_BYTES = 32 << 20
"""A public part up to this size is read once."""


class ToolsNotAvailableError(BadInputError):
    """Cases offer tools to the model, and this build cannot run any."""

    slug = "tools-not-available"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The trials of a run, in order, and those that cannot be run here."""

    trials: tuple[Trial, ...]
    need_environment: frozenset[CaseId]
    """Cases that are never asked."""
    read: tuple[EffectiveCase, ...] | None
    """The cases that may be asked, where the release is small enough to be kept in memory; else they are read again."""

    @property
    def askable(self) -> list[Trial]:
        """The trials that are asked, in order."""
        if not self.need_environment:
            return list(self.trials)
        return [trial for trial in self.trials if trial.case not in self.need_environment]


def case_ids(release: ReleaseFiles) -> list[CaseId]:
    """Every case of a release, in its order."""
    return [case.case for case in public_cases(release)]


def public_cases(release: ReleaseFiles) -> Iterator[PublicCase]:
    """Every case's public part, in the release's order."""
    for number, line in enumerate(release.lines(CASES), 1):
        yield PublicCase.parse(line, f"{CASES}:{number}")


def plan_run(release: ReleaseFiles, spec: RunSpec) -> RunPlan:
    """List the trials of a run.

    Raises:
        ToolsNotAvailableError: A chosen case that would be asked offers tools.
        BadInputError: The spec chooses no case, or one that the release does not have.
    """
    evals = {entry.id: entry for entry in release.manifest.evals}
    known: list[CaseId] = []
    need: set[CaseId] = set()
    with_tools: set[CaseId] = set()
    small = release.manifest.file(CASES).bytes <= _KEPT_BYTES
    read: list[EffectiveCase] = []
    for case in public_cases(release):
        known.append(case.case)
        if case.needs_environment:
            need.add(case.case)
            continue
        whole = effective(case, evals[case.case.eval])
        if whole.tools:
            with_tools.add(case.case)
        if small:
            read.append(whole)
    picked = list(chosen(known, spec))
    if not picked:
        raise BadInputError("the run has no cases", expected="at least one case in the chosen evals")
    if len(picked) * spec.repeat > MOST_TRIALS:
        raise BadInputError(
            "the run has too many trials",
            expected=f"at most {MOST_TRIALS:,}",
            got=f"{len(picked):,} cases, each {spec.repeat:,} times",
        )
    missing = set(spec.cases or ()).difference(picked)
    if missing:
        raise BadInputError(
            "the release has no such cases",
            faults=[Fault(f"case {case}", "not in the release") for case in sorted(missing)],
        )
    tools = [case for case in picked if case in with_tools]
    if tools and not spec.imported:
        raise ToolsNotAvailableError(
            f"{len(tools)} cases offer tools, which this version cannot run",
            faults=[Fault(f"case {case}", "offers tools to the model") for case in tools],
            hint="`--eval` and `--cases` choose the cases that need none",
        )
    return RunPlan(tuple(trials(picked, spec)), frozenset(need.intersection(picked)), tuple(read) if small else None)


def effective_cases(release: ReleaseFiles, plan: RunPlan, wanted: frozenset[CaseId]) -> Iterator[EffectiveCase]:
    """The wanted cases as models get them, in the release's order, one at a time."""
    if plan.read is not None:
        yield from (case for case in plan.read if case.case in wanted)
        return
    evals = {entry.id: entry for entry in release.manifest.evals}
    for case in public_cases(release):
        if case.case in wanted:
            yield effective(case, evals[case.case.eval])
