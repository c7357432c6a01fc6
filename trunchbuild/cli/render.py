"""Output for people and for programs: data to stdout, everything else to stderr."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from trunchbuild.core.json_types import Json, JsonObject

SHOWN_CHARACTERS = 1000
"""Of one line of a message; a stranger's value may be megabytes long."""


_PERHAPS_UNPRINTED = re.compile("[\x7f-\U0010ffff]")


def plain(value: Json) -> str:
    """A JSON value as text for `--json`: indented, one final newline is added by the caller.

    Only what steers a terminal (C1 controls, text direction) is escaped. A name of bytes that are not UTF-8 has no
    strict JSON: its odd bytes become U+FFFD.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return _PERHAPS_UNPRINTED.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return character if character.isprintable() else json.dumps(character)[1:-1]


def show_json(value: JsonObject) -> None:
    """Print one JSON document to stdout. A command prints one, last, or raises: never both."""
    click.echo(plain(value))


def printable(text: str) -> str:
    """Text of a stranger made safe for a terminal: control characters (escape sequences) are shown, not obeyed."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def on_one_line(text: str) -> str:
    """A stranger's text as part of one line: its line breaks cannot forge a line of ours."""
    return text.replace("\n", "\\n")


def cut(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """At most `limit` characters, and the count of those left out."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text) - limit} more characters)"


def counted(count: int, noun: str) -> str:
    """`1 eval`, `2 evals`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def say(text: str) -> None:
    """Print an answer for people, on stdout."""
    click.echo(printable(text))


def note(text: str) -> None:
    """Say something to a person, on stderr; where stderr takes nothing, that is no reason to fail."""
    with suppress(OSError):
        click.echo(printable(text), err=True)


def warn(text: str) -> None:
    """Warn a person, on stderr."""
    note(f"warning: {on_one_line(text)}")


def show_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Print an answer as aligned `name  value` lines, the same on a terminal and in a file."""
    width = max((len(name) for name, _ in fields), default=0)
    for name, value in fields:
        first, *rest = value.split("\n")
        say(f"{name:<{width}}  {first}".rstrip())
        for line in rest:
            say(f"{'':<{width}}  {line}".rstrip())


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows for people: a drawn table on a terminal, tab-separated lines elsewhere (for `cut` and `awk`)."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            say("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - rich costs start-up time, and a pipe does not need it
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(*columns, box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console().print(table)


class Progress(Protocol):
    """A bar on the screen."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """So many steps more are done; `note` stands behind the bar."""
        ...


class _Silent:
    """No terminal, no bar."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Draw nothing."""


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Progress]:
    """A progress bar on stderr while the block runs, `total` None if unknown; silent where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield _Silent()
        return
    from rich import progress as bars  # noqa: PLC0415 - see show_table
    from rich.console import Console  # noqa: PLC0415

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
        bars.TextColumn("{task.fields[note]}", markup=False),
    )
    with bars.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, note="")

        class Drawn:
            def advance(self, steps: int = 1, note: str = "") -> None:
                bar.update(task, advance=steps, note=printable(note))

        yield Drawn()


PATIENCE_SECONDS = 1.0
"""What takes no longer needs no bar."""


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """A moving bar with the time gone, for a block whose steps cannot be counted; drawn only after `PATIENCE_SECONDS`.

    Nothing may be printed within the block. Silent where stderr is no terminal.
    """
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    drawer = threading.Thread(target=_draw_until, args=(done, label), daemon=True)
    drawer.start()
    try:
        yield
    finally:
        done.set()
        drawer.join()


def _draw_until(done: threading.Event, label: str) -> None:
    if done.wait(PATIENCE_SECONDS):
        return
    from rich import progress as bars  # noqa: PLC0415 - see show_table
    from rich.console import Console  # noqa: PLC0415

    columns = (bars.TextColumn("{task.description}", markup=False), bars.BarColumn(), bars.TimeElapsedColumn())
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(label, total=None)
        done.wait()
