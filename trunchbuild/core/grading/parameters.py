"""Checks of an evaluator's parameters: each takes a value and says what is wrong with it, or None."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from trunchbuild.core.grading.verdict import Grader
from trunchbuild.core.json_types import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one parameter: what was expected and what stands there; `at` is a pointer below it."""

    message: str
    expected: str
    got: str
    at: str = ""
    hint: str | None = None


Check: TypeAlias = Callable[[Json], Problem | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One version of one evaluator kind."""

    parameters: Mapping[str, Check]
    required: frozenset[str]
    make: Callable[[JsonObject], Grader]
    """Build the grader from a specification that passed its checks."""
    check_whole: Callable[[JsonObject], tuple[str, Problem] | None] | None = field(default=None)
    """A check of parameters together, made once each has passed alone; names the parameter at fault."""


def describe(value: Json) -> str:
    """A value for a message: its JSON type, and the value itself where that is short."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"`{value}`" if 0 < len(value) <= 40 else ("an empty string" if not value else "a string")
        case Mapping():
            return "an object"
        case _:
            return "a list" if value else "an empty list"


def text(value: Json) -> Problem | None:
    """Any string."""
    if type(value) is str:
        return None
    hint = f'write it as a string: "{str(value).lower()}"' if isinstance(value, bool | int | float) else None
    return Problem("wrong type", "a string", describe(value), hint=hint)


def non_empty_text(value: Json) -> Problem | None:
    """A string with at least one character."""
    if type(value) is str and value:
        return None
    return Problem("empty", "a non-empty string", describe(value)) if value == "" else text(value)


def flag(value: Json) -> Problem | None:
    """True or false."""
    return None if type(value) is bool else Problem("wrong type", "true or false", describe(value))


def one_of(*choices: str) -> Check:
    """One of a few words."""

    def check(value: Json) -> Problem | None:
        if type(value) is str and value in choices:
            return None
        return Problem("unknown value", " or ".join(f'"{choice}"' for choice in choices), describe(value))

    return check


def list_of(check_item: Check, *, may_be_empty: bool = False) -> Check:
    """A list whose every item passes the given check; the first item at fault is named."""

    def check(value: Json) -> Problem | None:
        if not isinstance(value, list | tuple):
            return Problem("wrong type", "a list of strings", describe(value))
        if not value and not may_be_empty:
            return Problem("empty list", "at least one string", "none")
        for position, item in enumerate(value):
            problem = check_item(item)
            if problem is not None:
                return Problem(problem.message, problem.expected, problem.got, f"/{position}{problem.at}", problem.hint)
        return None

    return check


def text_or_texts(value: Json) -> Problem | None:
    """A string, or a non-empty list of strings."""
    if type(value) is str:
        return None
    return _TEXTS(value) if isinstance(value, list | tuple) else text(value)


_TEXTS = list_of(text)


def as_texts(value: Json) -> list[str]:
    """The strings of a checked `string or string[]` parameter."""
    if isinstance(value, str):
        return [value]
    assert isinstance(value, list | tuple)
    return [str(item) for item in value]
