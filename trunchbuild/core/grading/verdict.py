"""What a grader says about one reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from trunchbuild.core.json_types import Json


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of grading one reply; a grader that cannot judge raises instead, it never invents a score.

    `passed` and `score` are None only for kinds that measure and never judge. `message` is for people and never holds
    the expected answer: results may be published while the private part of a release is withheld.
    """

    passed: bool | None
    """Whether the reply is right."""
    score: float | None
    """From 0 to 1, finite."""
    message: str | None
    """Why it did not pass; None where there is nothing to say."""
    details: Json = None


Grader: TypeAlias = Callable[[str], Verdict]
"""Judges the text of one reply; pure."""

RIGHT = Verdict(True, 1.0, None)


def wrong(message: str) -> Verdict:
    """The verdict on a reply that is not right."""
    return Verdict(False, 0.0, message)
