"""Check (4) of a release: every line parses, ids are unique, counts agree, public and private lines pair up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.grading import KINDS, check_specification
from trunchbuild.core.ids import CaseId, Digest
from trunchbuild.core.json_types import Json
from trunchbuild.core.manifest import CASES, CUSTOM, PRIVATE, EvalEntry, Manifest
from trunchbuild.core.private_case import PrivateCase
from trunchbuild.core.public_case import PublicCase
from trunchbuild.core.release import case_digest
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.unicode_text import canonical_fold
from trunchbuild.errors import BadInputError, Fault

_T = TypeVar("_T")

CUSTOM_NUMBERED = "custom@1"
"""How a manifest names them: the number is that of the rules by which the function is called."""


@dataclass(frozen=True, slots=True)
class LineFindings:
    """What a pass over all lines found."""

    faults: tuple[Fault, ...]
    digests: tuple[Digest, ...] | None
    """Every case's digest in order; None where the private part is withheld or the lines do not pair up."""
    sealed: bool | None
    """Whether the private lines carry salts; None where they are withheld."""


def check_lines(manifest: Manifest, public: Iterable[bytes], private: Iterable[bytes] | None) -> LineFindings:
    """Read all lines once, side by side; `private` is None where that part is withheld."""
    check = _LineCheck(manifest)
    if private is None:
        for number, line in enumerate(public, 1):
            check.public(number, line)
        check.counts(with_private=False)
        return LineFindings(tuple(check.faults), None, None)
    digests: list[Digest] = []
    for number, (line, secret) in enumerate(zip_longest(public, private), 1):
        case = None if line is None else check.public(number, line)
        other = None if secret is None else check.private(number, secret)
        if line is None or secret is None:
            got = CASES if secret is None else PRIVATE
            check.fault(f"{got}:{number}", "no line to pair with", f"a line in both `{CASES}` and `{PRIVATE}`", "one")
            continue
        digests.append(case_digest(line, secret))
        if case is not None and other is not None and case != other:
            check.fault(f"{PRIVATE}:{number}", "belongs to another case", str(case), str(other))
    check.counts(with_private=True)
    return LineFindings(tuple(check.faults), tuple(digests), check.salted > 0)


class _LineCheck:
    """Faults and counts, gathered line by line."""

    def __init__(self, manifest: Manifest) -> None:
        self.faults: list[Fault] = []
        self.salted = 0
        self._manifest = manifest
        self._evals = {entry.id: entry for entry in manifest.evals}
        self._seen: dict[tuple[str, str], int] = {}
        self._cases: Counter[str] = Counter()
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._private = 0
        self._order: list[str] = []

    def fault(self, place: str, message: str, expected: str | None = None, got: str | None = None) -> None:
        """Note one fault."""
        self.faults.append(Fault(place, message, expected, got))

    def public(self, number: int, line: bytes) -> CaseId | None:
        """Check one line of `cases.jsonl`; None where it does not parse."""
        place = f"{CASES}:{number}"
        case = self._parsed(line, place, lambda value: PublicCase.read(value, place))
        if case is None:
            return None
        entry = self._evals.get(case.case.eval)
        if entry is None:
            self.fault(place, "an eval that the manifest does not list", got=case.case.eval)
        else:
            self._tools(place, case, entry)
        key = (case.case.eval, canonical_fold(case.case.id))
        first = self._seen.setdefault(key, number)
        if first != number:
            self.fault(place, "an id that is not unique", f"another id than in line {first}", str(case.case))
        if not self._order or self._order[-1] != case.case.eval:
            self._order.append(case.case.eval)
        self._cases[case.case.eval] += 1
        return case.case

    def private(self, number: int, line: bytes) -> CaseId | None:
        """Check one line of `private.jsonl`; None where it does not parse."""
        place = f"{PRIVATE}:{number}"
        self._private += 1
        case = self._parsed(line, place, lambda value: PrivateCase.read(value, place))
        if case is None:
            return None
        self._kinds[case.case.eval, f"{case.kind}@{case.number}"] += 1
        self.salted += case.salt is not None
        self._evaluator(place, case)
        return case.case

    def counts(self, *, with_private: bool) -> None:
        """Compare what was counted with the manifest."""
        for entry in self._manifest.evals:
            if self._cases[entry.id] != entry.case_count:
                self.fault(f"eval {entry.id}", "case count", str(entry.case_count), str(self._cases[entry.id]))
            stated: Counter[str] = Counter()
            for use in entry.evaluators:
                stated[use.kind] += use.cases
            counted = {kind: count for (eval_id, kind), count in self._kinds.items() if eval_id == entry.id}
            if with_private and stated != counted:
                self.fault(f"eval {entry.id}", "evaluators", _counted(stated), _counted(counted))
            elif sum(stated.values()) != entry.case_count:
                self.fault(f"eval {entry.id}", "evaluators", f"{entry.case_count} cases", _counted(stated))
        listed = [entry.id for entry in self._manifest.evals]
        if set(self._order) == set(listed) and self._order != listed:
            self.fault(CASES, "order of evals", " ".join(listed), " ".join(self._order))
        if self.salted not in (0, self._private):
            self.fault(PRIVATE, "salts", "in every line or in none", f"in {self.salted} of {self._private}")

    def _parsed(self, line: bytes, place: str, read: Callable[[Json], _T]) -> _T | None:
        try:
            value = read_json(line, place)
            parsed = read(value)
        except BadInputError as error:
            self.faults.extend(error.faults)
            return None
        if canonical_bytes(value) != line:
            self.fault(place, "not canonical", "RFC 8785 bytes", "the same value written in another way")
        return parsed

    def _evaluator(self, place: str, case: PrivateCase) -> None:
        """The parameters of a built-in evaluator that this build knows; check (6) names the others."""
        if case.kind == CUSTOM:
            entry = self._evals.get(case.case.eval)
            use = next((use for use in entry.evaluators if use.module is not None), None) if entry else None
            key = None if use is None else f"{use.module}#{use.member}"
            if use is not None and case.evaluate != {"kind": CUSTOM, "evaluatorKey": key, "sourcePath": use.module}:
                got = str(case.evaluate.get("evaluatorKey"))
                self.fault(f"{place} /evaluate", "another function than the manifest's", key, got)
        elif case.number in KINDS.get(case.kind, ()):
            self.faults += check_specification(case.evaluate, f"{place} /evaluate")

    def _tools(self, place: str, case: PublicCase, entry: EvalEntry) -> None:
        for name in case.tools or ():
            if name not in (entry.tools or {}):
                self.fault(place, "a tool that the eval does not declare", got=f"`{name}`")


def _counted(kinds: Counter[str] | dict[str, int]) -> str:
    return ", ".join(f"{kind} x {count}" for kind, count in sorted(kinds.items())) or "none"


def ungradable(manifest: Manifest, known: Callable[[str], tuple[int, ...]]) -> list[Fault]:
    """Check (6): evaluators that this build cannot grade; `known` gives the numbers of a kind."""
    faults: list[Fault] = []
    for entry in manifest.evals:
        for use in entry.evaluators:
            kind, _, number = use.kind.partition("@")
            numbers = (1,) if kind == CUSTOM else known(kind)
            if int(number) not in numbers:
                expected = " or ".join(f"{kind}@{one}" for one in numbers) or "a kind that this build knows"
                faults.append(Fault(f"eval {entry.id}", "an evaluator that cannot be graded", expected, use.kind))
    return faults
