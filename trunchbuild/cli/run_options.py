"""Kinds of option values that the commands about runs share."""

from __future__ import annotations

import math

import click

MOST = 2**52
"""What an option's whole number may be at most: with a repeat's number added it is still exact as a JSON number."""


class Whole(click.ParamType[int]):
    """A whole number within bounds, which help does not spell out; a message about one outside them does."""

    name = "integer"

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType`."""
        try:
            number = int(str(value))
        except ValueError:
            number = self._low - 1
        if not self._low <= number <= self._high:
            self.fail(f"{value!r} is not a whole number of at least {self._low}, at most {self._high}", param, ctx)
        return number


class Text(click.ParamType[str]):
    """A text that UTF-8 can hold: bytes of a command line that are none come as lone surrogates."""

    name = "text"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """See `click.ParamType`."""
        text = str(value)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            self.fail(f"{text!r} is not UTF-8", param, ctx)
        return text


class Number(click.ParamType[float | str]):
    """A finite number within bounds; NaN is none. `none` means: leave it out, where that is allowed."""

    name = "number"

    def __init__(self, low: float, high: float, *, above: bool = False, none: bool = False) -> None:
        self._low, self._high, self._above, self._none = low, high, above, none

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """See `click.ParamType`."""
        if self._none and value == "none":
            return "none"
        try:
            number = float(str(value))
        except ValueError:
            number = math.nan
        if not self._low <= number <= self._high or not math.isfinite(number) or (self._above and number == self._low):
            bounds = f"{'more than' if self._above else 'at least'} {self._low:g}"
            if math.isfinite(self._high):
                bounds += f", at most {self._high:g}"
            self.fail(f"{value!r} is not a number of {bounds}{' or `none`' if self._none else ''}", param, ctx)
        return number


COUNT = Whole(1, MOST)
