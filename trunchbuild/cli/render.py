"""Output for people and for programs: data to stdout, everything else to stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from trunchbuild.errors import TrunchbuildError

if TYPE_CHECKING:
    from trunchbuild.core.json_types import Json


def plain(value: Json) -> str:
    """A JSON value as text for `--json`: indented, not escaped, one final newline is added by the caller."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)


def show_json(value: Mapping[str, Json]) -> None:
    """Print one JSON document to stdout."""
    click.echo(plain(value))


def printable(text: str) -> str:
    """Text of a stranger made safe for a terminal: control characters (escape sequences) are shown, not obeyed."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def note(text: str) -> None:
    """Say something to a person, on stderr."""
    click.echo(printable(text), err=True)


def show_error(error: TrunchbuildError) -> None:
    """Print an error: headline, every fault with its place, hints apart."""
    if len(error.faults) == 1:
        note(f"error: {error.faults[0]}")
    else:
        note(f"error: {error.message}")
        for fault in error.faults:
            note(f"  {fault}")
    hints = dict.fromkeys(hint for hint in (error.hint, *(fault.hint for fault in error.faults)) if hint)
    for hint in hints:
        note(f"\nhint: {hint}")


def show_unexpected(error: BaseException) -> None:
    """Print an operating system's refusal without a traceback."""
    note(f"error: {error or type(error).__name__}")
