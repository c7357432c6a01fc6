"""Every error that reaches a user: one root, a slug and an exit code each.

A message gives place, what was expected and what was got; a hint stands apart. `docs/reference/errors.md` has an entry
for each slug.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What a command's exit says; `docs/reference/exit-codes.md`."""

    YES = 0
    NO = 1
    USAGE = 2
    BAD_INPUT = 3
    MACHINE = 4
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with an input.

    `place` is where an author finds it (`evals/x.ts:3:14`, `data/cases.jsonl:7`, `case add-017 /tags/level`).
    """

    place: str
    message: str
    expected: str | None = None
    got: str | None = None
    hint: str | None = None
    code: str | None = None
    """For a finding in a module: what kind it is, a word of `core/policy_codes.py` that does not change."""

    def __str__(self) -> str:
        """The fault on one line, without its hint."""
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.expected is not None:
            text += f": expected {self.expected}"
        if self.got is not None:
            text += f"{',' if self.expected is not None else ':'} got {self.got}"
        return text


class TrunchbuildError(Exception):
    """The root of all errors that a user may see.

    A subclass states `slug` (stable, documented) and `exit_code`. `faults` is never empty: an error about one thing
    holds one fault, an error about data lists every fault that was found.
    """

    slug: ClassVar[str] = "error"
    exit_code: ClassVar[ExitCode] = ExitCode.MACHINE

    def __init__(
        self,
        message: str,
        *,
        place: str = "",
        expected: str | None = None,
        got: str | None = None,
        hint: str | None = None,
        faults: Sequence[Fault] = (),
    ) -> None:
        self.message = message
        self.hint = hint
        self.faults: tuple[Fault, ...] = tuple(faults) or (Fault(place, message, expected, got, hint),)
        super().__init__(message)

    def __str__(self) -> str:
        """The headline; for one fault its whole line."""
        return str(self.faults[0]) if len(self.faults) == 1 else self.message


class UsageError(TrunchbuildError):
    """The command line asks for something that makes no sense."""

    slug, exit_code = "usage", ExitCode.USAGE


class BadInputError(TrunchbuildError):
    """A file, module or value does not follow its format."""

    slug, exit_code = "bad-input", ExitCode.BAD_INPUT


class CheckedNoError(TrunchbuildError):
    """Something was checked, and the answer is no."""

    slug, exit_code = "checked-no", ExitCode.NO


class MachineError(TrunchbuildError):
    """The machine, its file system or its tools stand in the way."""

    slug, exit_code = "machine", ExitCode.MACHINE
