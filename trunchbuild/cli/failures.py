"""Errors on their way to a user: any exception becomes one of ours, and one of ours becomes text."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from trunchbuild.cli.render import cut, note, on_one_line, show_json
from trunchbuild.cli.settings import Settings, redacted
from trunchbuild.cli.streams import refusal_of_output
from trunchbuild.core.json_types import JsonObject
from trunchbuild.errors import ExitCode, Fault, MachineError, TrunchbuildError, UsageError

SHOWN_FAULTS = 50
"""Faults on a screen; `--json` gives all."""
SHOWN_HINTS = 5


class InternalError(TrunchbuildError):
    """A fault of trunchbuild itself."""

    slug, exit_code = "internal", ExitCode.MACHINE


def explain(error: Exception, *, debug: bool) -> TrunchbuildError:
    """Turn whatever a command raised into an error with a message, an exit code and, where it helps, a hint.

    Side effects:
        The traceback of an error that nobody foresaw goes to `internal-error.txt` under the home folder, or with
        `debug` to standard error.
    """
    known = next(_ours(error), None)
    if known is not None:
        return known
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, OSError):
        return _machine(error)
    if isinstance(error, MemoryError):
        return MachineError("out of memory")
    return _internal(error, debug=debug)


def unprinted(error: OSError) -> MachineError:
    """The error for an answer that standard output did not take."""
    reason = error.strerror or type(error).__name__
    hint = "what the command wrote elsewhere is whole; only its answer on standard output is cut short"
    return MachineError(reason[:1].lower() + reason[1:], place="standard output", hint=hint)


def show(error: TrunchbuildError, *, as_json: bool) -> None:
    """Print an error for people on standard error and, for programs, as JSON on standard output.

    Where one of the two takes nothing, the other and the exit code still say it.
    """
    if as_json:
        try:
            show_json(document(error))
        except OSError:
            refusal_of_output()
    for line in lines(error):
        note(line)


def document(error: TrunchbuildError) -> JsonObject:
    """The `--json` form, with every fault."""
    return {
        "error": {
            "slug": error.slug,
            "exitCode": int(error.exit_code),
            "message": error.message,
            **({"hint": error.hint} if error.hint else {}),
            "faults": [_fault_document(fault) for fault in error.faults],
        }
    }


def lines(error: TrunchbuildError) -> Iterator[str]:
    """The form for people: headline, faults grouped by file, hints apart; capped, with the count of the rest."""
    if len(error.faults) == 1:
        yield f"error: {_one_line(error.faults[0])}"
    else:
        yield f"error: {on_one_line(cut(error.message))}"
        yield from _grouped(error.faults)
    hints = list(dict.fromkeys(hint for hint in (error.hint, *(fault.hint for fault in error.faults)) if hint))
    if hints:
        yield ""
    for hint in hints[:SHOWN_HINTS]:
        yield f"hint: {on_one_line(cut(hint))}"


def _grouped(faults: Sequence[Fault]) -> Iterator[str]:
    """Faults under their files; the files in order of their first fault."""
    files: dict[str, list[Fault]] = {}
    for fault in faults:
        files.setdefault(_file(fault.place), []).append(fault)
    shown = [(file, fault) for file, group in files.items() for fault in group][:SHOWN_FAULTS]
    for file, group in groupby(shown, key=lambda pair: pair[0]):
        if len(files) > 1 and len(files[file]) > 1:
            yield f"  {on_one_line(cut(file))}: {len(files[file])} faults" if file else f"  {len(files[file])} faults"
            indent = "    "
        else:
            indent = "  "
        for _, fault in group:
            yield indent + _one_line(fault)
    rest = len(faults) - len(shown)
    if rest > 0:
        yield f"  and {rest} more; --json lists all"


def _file(place: str) -> str:
    """The file of a place such as `evals/x.ts:3:14`; a place without a position is its own file."""
    return place.partition(":")[0]


def _one_line(fault: Fault) -> str:
    """A fault as one line."""
    return on_one_line(cut(str(fault)))


def _fault_document(fault: Fault) -> JsonObject:
    members = {
        "place": fault.place,
        "message": fault.message,
        "expected": fault.expected,
        "got": fault.got,
        "hint": fault.hint,
    }
    return {name: text for name, text in members.items() if text is not None}


def _ours(error: BaseException) -> Iterator[TrunchbuildError]:
    """Our own errors in it, also from within a group of tasks."""
    if isinstance(error, TrunchbuildError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _ours(inner)


def _usage(error: click.ClickException) -> UsageError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "trunchbuild"
    message = error.format_message()
    return UsageError(message[:1].lower() + message[1:], hint=f"`{command} --help` lists what it takes")


def _machine(error: OSError) -> MachineError:
    reason = error.strerror or str(error) or type(error).__name__
    return MachineError(reason[:1].lower() + reason[1:], place=str(error.filename or ""))


def _internal(error: Exception, *, debug: bool) -> InternalError:
    text = redacted("".join(traceback.format_exception(error)))
    summary = redacted(cut(f"{type(error).__name__}: {error}".replace("\n", " "), 300))
    if debug:
        sys.stderr.write(text)
        return InternalError(f"internal error: {summary}")
    try:
        home = Settings.from_environment().home
        home.mkdir(parents=True, exist_ok=True)
        file = home / "internal-error.txt"
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return InternalError(f"internal error: {summary}", hint="`trunchbuild --debug ...` shows where it happened")
    return InternalError(f"internal error: {summary}", hint=f"this is a fault of trunchbuild; details are in {file}")
