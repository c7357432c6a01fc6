"""Which trials a run has, in which order, and which of them the journal leaves to be asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.ids import CaseId
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.errors import BadInputError, Fault

Recorded = Literal["answered", "failed", "incomplete"]
"""What the journal holds of a trial: a reply, a failure after all retries, or a step that was not the last."""

MOST_TRIALS = 2_500_000
"""The largest release a hundred times; a run's plan is held in memory, also when a stranger's run is verified."""


@dataclass(frozen=True, slots=True, order=True)
class Trial:
    """One case asked once; `repeat` counts from 0. Sorts as results are digested: by eval, case, repeat."""

    eval: str
    id: str
    repeat: int

    @property
    def case(self) -> CaseId:
        """The case."""
        return CaseId(self.eval, self.id)

    def __str__(self) -> str:
        """The written form, `EVAL/ID` and the repeat where it is not the first."""
        return f"{self.eval}/{self.id}" + (f" (repeat {self.repeat})" if self.repeat else "")


def chosen(cases: Iterable[CaseId], spec: RunSpec) -> Iterator[CaseId]:
    """The cases of a run out of a release's cases, in the release's order."""
    wanted = None if spec.cases is None else frozenset(spec.cases)
    evals = frozenset(spec.evals)
    seen: dict[str, int] = {}
    for case in cases:
        if case.eval not in evals or (wanted is not None and case not in wanted):
            continue
        count = seen[case.eval] = seen.get(case.eval, 0) + 1
        if spec.limit is None or count <= spec.limit:
            yield case


def trials(cases: Iterable[CaseId], spec: RunSpec) -> Iterator[Trial]:
    """Every trial of a run in order: the release's order of cases, each case's repeats together."""
    for case in chosen(cases, spec):
        for repeat in range(spec.repeat):
            yield Trial(case.eval, case.id, repeat)


def remaining(
    planned: Iterable[Trial], recorded: Mapping[Trial, Recorded], *, again: frozenset[Trial] = frozenset()
) -> list[Trial]:
    """The trials to ask now: those without a reply (a failed call has none), and those in `again`."""
    return [trial for trial in planned if recorded.get(trial) != "answered" or trial in again]


def strangers(planned: Iterable[Trial], recorded: Iterable[Trial]) -> list[Trial]:
    """Recorded trials that the run does not have, sorted."""
    return sorted(set(recorded).difference(planned))


def read_case_list(text: str, known: Sequence[CaseId], evals: Sequence[str], place: str) -> tuple[CaseId, ...]:
    """Read a list of cases, one a line: `EVAL/ID`, or `ID` where one chosen eval alone has it.

    Returns them in the release's order, each once. Blank lines are skipped.

    Raises:
        BadInputError: A line names no case of the chosen evals, or more than one; every such line is listed.
    """
    by_name: dict[str, list[CaseId]] = {}
    for case in known:
        if case.eval in evals:
            by_name.setdefault(str(case), []).append(case)
            by_name.setdefault(case.id, []).append(case)
    wanted: set[CaseId] = set()
    faults: list[Fault] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = raw.removesuffix("\r")
        if not line.strip():
            continue
        found = by_name.get(line) or by_name.get(line.strip()) or []
        if len(found) == 1:
            wanted.add(found[0])
        elif found:
            candidates = " or ".join(f"`{case}`" for case in found)
            faults.append(Fault(f"{place}:{number}", "more than one case", candidates, f"`{line.strip()}`"))
        else:
            faults.append(Fault(f"{place}:{number}", "no such case in the chosen evals", got=f"`{line.strip()}`"))
    if faults:
        raise BadInputError(f"{len(faults)} lines name no single case", faults=faults)
    if not wanted:
        raise BadInputError("the list of cases is empty", place=place, expected="one EVAL/ID a line")
    return tuple(case for case in known if case in wanted)
