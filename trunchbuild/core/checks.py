"""Numbered checks: each has a name, what was expected, what was got and an outcome. `docs/reference/checks.md`.

A check is data, so that a report can be printed, sent as JSON, and compared; its number never changes its meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.errors import ExitCode, Fault

Outcome = Literal["yes", "no", "open"]
"""`open`: it could not be checked here; the note says what is missing."""

RELEASE_CHECKS: Mapping[int, str] = {
    1: "the manifest parses, is canonical, and has the digest that is claimed",
    2: "every listed file has its size and SHA-256; none is missing but a withheld private part, none is unlisted",
    3: "Merkle roots and line counts recompute",
    4: "every line parses, ids are unique, counts agree, public and private lines pair up",
    5: "lockfile and manifest agree",
    6: "evaluator numbers are ones that this build can grade",
    7: "the commit is there, and every source and module hashes as listed",
    8: "rebuilt from its commit, the release comes out byte for byte",
}

MOST_FAULTS = 20
"""So many faults of one check are listed; the rest are counted."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one check ended."""

    number: int
    name: str
    outcome: Outcome
    expected: str | None = None
    got: str | None = None
    note: str | None = None
    """For people: what remains open and why, or what a yes does not say."""
    faults: tuple[Fault, ...] = ()
    """Each thing that differs, with its place; at most `MOST_FAULTS`, and the note counts the rest."""

    def json(self) -> JsonObject:
        """The result for `--json`; absent values stand as null."""
        faults: list[Json] = [
            {"place": fault.place, "message": fault.message, "expected": fault.expected, "got": fault.got}
            for fault in self.faults
        ]
        return {
            "number": self.number,
            "name": self.name,
            "outcome": self.outcome,
            "expected": self.expected,
            "got": self.got,
            "note": self.note,
            "faults": faults,
        }


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All checks of one subject, in the order of their numbers."""

    subject: str
    digest: str | None
    """What the subject's bytes hash to, written form; None where that cannot be said."""
    checks: tuple[CheckResult, ...]
    not_asked: tuple[int, ...] = ()
    """Numbers of checks that belong to this kind of subject and that nobody asked for."""
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """`no` where any check says no, else `open` where any is open. No checks at all prove nothing: `open`."""
        outcomes = {check.outcome for check in self.checks}
        if "no" in outcomes:
            return "no"
        return "open" if "open" in outcomes or not outcomes else "yes"

    @property
    def exit_code(self) -> ExitCode:
        """0 yes, 1 no, 4 could not check."""
        return {"yes": ExitCode.YES, "no": ExitCode.NO, "open": ExitCode.MACHINE}[self.outcome]

    def json(self) -> JsonObject:
        """The report for `--json`."""
        return {
            "subject": self.subject,
            "digest": self.digest,
            "outcome": self.outcome,
            "checks": [check.json() for check in self.checks],
            "notAsked": list(self.not_asked),
            "notes": list(self.notes),
        }


def judged(
    number: int,
    name: str,
    faults: Iterable[Fault],
    *,
    expected: str | None = None,
    got: str | None = None,
    note: str | None = None,
) -> CheckResult:
    """A check that was made: `no` with its first fault as expected and got, or `yes`."""
    found = tuple(faults)
    if not found:
        return CheckResult(number, name, "yes", expected, got, note)
    more = len(found) - MOST_FAULTS
    if more > 0:
        note = "; ".join(filter(None, [note, f"{more} more faults are not listed"]))
    first = found[0]
    return CheckResult(
        number,
        name,
        "no",
        first.expected if expected is None else expected,
        first.got if got is None else got,
        note,
        found[:MOST_FAULTS],
    )


def left_open(number: int, name: str, note: str) -> CheckResult:
    """A check that could not be made, and why."""
    return CheckResult(number, name, "open", note=note)
