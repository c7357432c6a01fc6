"""Lint: what a release may hold and its author probably does not want. Warnings; `--strict` makes them errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from hashlib import blake2b
from typing import Final

from trunchbuild.core.benchmark import BenchmarkConfig
from trunchbuild.core.cases import case_place
from trunchbuild.core.ecmascript import number_text
from trunchbuild.core.eval_module import BuiltInEvaluator, EvalDefinition
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.errors import Fault

_LISTED: Final = 5
"""Cases named in one warning; the others are counted."""

# What a grader accepts, by parameter. `forbiddenAnswers` and the substrings of `not_contains` are no answers.
_ANSWER_PARAMETERS: Final = ("expected", "answers", "substrings")
# Kinds whose answer stands in the prompt by design: the model is to find or to convert it there.
_FOUND_IN_PROMPT: Final = frozenset({"context_recall", "convert", "not_contains"})

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def lint_config(config: BenchmarkConfig) -> list[Fault]:
    """What is missing in a config that may be missing."""
    if config.facts.license is not None:
        return []
    hint = 'add license: "CC-BY-4.0", or whatever holds; SPDX names licenses'
    return [Fault(config.path, "no license: nobody knows whether the evals may be used", hint=hint)]


class CaseLint:
    """Looks at the checked cases of one eval while they stream by; keeps one digest per prompt, never the prompts.

    `today` is given, since nothing here reads a clock.
    """

    def __init__(self, definition: EvalDefinition, today: date) -> None:
        self._definition = definition
        self._today = today
        self._prompts: dict[bytes, str] = {}
        self._answered: list[str] = []
        self._equal: list[str] = []
        self._dated: list[str] = []

    def look(self, place: str, case: JsonObject) -> None:
        """Look at one case that follows the contract."""
        prompt = str(case["prompt"])
        own = case.get("systemPrompt")
        system = (own if isinstance(own, str) else self._definition.system_prompt) or ""
        where = case_place(place, case)
        for answer in self._answers(case):
            if _occurs(answer, prompt) or _occurs(answer, system):
                self._answered.append(f"{where} ({_short(answer)})")
                break
        key = blake2b(f"{len(system)} {system}{prompt}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        first = self._prompts.setdefault(key, where)
        if first is not where:
            self._equal.append(f"{where} (as {first})")
        if str(self._today.year) in prompt or str(self._today.year) in system:
            found = self._dates.search(prompt) or self._dates.search(system)
            if found:
                self._dated.append(f"{where} ({_short(found.group())})")

    def warnings(self) -> list[Fault]:
        """One warning per kind of finding, the first cases by name."""
        module = self._definition.path
        found = (
            (self._answered, "an expected answer stands in the prompt", "a model can copy it without solving the task"),
            (self._equal, "equal prompts", "a case asked twice counts twice"),
            (
                self._dated,
                "today's date stands in the prompt",
                "a prompt that is made from the clock does not reproduce",
            ),
        )
        return [
            Fault(
                module,
                f"{message} ({len(cases):,} {'case' if len(cases) == 1 else 'cases'})",
                got=_first(cases),
                hint=hint,
            )
            for cases, message, hint in found
            if cases
        ]

    def _answers(self, case: JsonObject) -> Iterator[str]:
        own = case.get("evaluate")
        if isinstance(own, Mapping):
            yield from _answers_of(own)
        elif isinstance(self._definition.evaluate, BuiltInEvaluator):
            yield from _answers_of(self._definition.evaluate.specification)
        gold = case.get("gold")
        if isinstance(gold, str):
            yield gold

    @cached_property
    def _dates(self) -> re.Pattern[str]:
        """The ways in which people and programs write this day."""
        day, month, year = self._today.day, self._today.month, self._today.year
        name = _MONTHS[month - 1]
        names = f"(?:{name}|{name[:3]}\\.?)"
        numbers = f"0?{day}[./-]0?{month}[./-]{year}|0?{month}[./-]0?{day}[./-]{year}|{year}[./-]0?{month}[./-]0?{day}"
        ordinal = f"0?{day}(?:st|nd|rd|th)?"
        words = f"{names} {ordinal},? {year}|{ordinal}(?: of)? {names},? {year}"
        return re.compile(f"(?<![0-9])(?:{numbers}|{words})(?![0-9])", re.IGNORECASE)


def _answers_of(specification: JsonObject) -> Iterator[str]:
    if str(specification.get("kind", "")).partition("@")[0] in _FOUND_IN_PROMPT:
        return
    for name in _ANSWER_PARAMETERS:
        yield from _texts(specification.get(name))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value.strip()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield number_text(value)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)


# What stands right before or after an answer and makes it a part of something longer.
_GOES_ON_BEFORE = re.compile(r"\w\Z|\d[.,]\Z")
_GOES_ON_AFTER = re.compile(r"\w|[.,]\d")


def _occurs(answer: str, text: str) -> bool:
    """Whether the answer stands in the text as whole words: 7 is in "7 days" and not in 17, 7.5 or 1,7."""
    start = text.find(answer)
    while start >= 0:
        end = start + len(answer)
        if not _GOES_ON_BEFORE.search(text[max(0, start - 2) : start]) and not _GOES_ON_AFTER.match(text, end):
            return True
        start = text.find(answer, start + 1)
    return False


def _short(text: str) -> str:
    return ascii(text) if len(text) <= 40 else f"{text[:40]!a}..."


def _first(cases: Sequence[str]) -> str:
    more = f" and {len(cases) - _LISTED:,} more" if len(cases) > _LISTED else ""
    return ", ".join(cases[:_LISTED]) + more
