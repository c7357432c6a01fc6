"""Finds the author's line for what a failed run said.

`Error.stackTraceLimit` is 0 while modules run, since a stack is a trace of the machine. Where a run failed, it is run
once more with a stack, only to look where it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import ModuleGraph, ModuleRefusedError
from trunchbuild.core.source_map import original_position
from trunchbuild.effects.runtime._two_runs import Header
from trunchbuild.effects.runtime.api import GuestError, GuestLimitError
from trunchbuild.errors import Fault, TrunchbuildError

STACK_DEPTH = 20

_TYPE_HINT = "a type is imported with `import type` or `type` before its name: types are gone when modules run"


def with_places(
    error: TrunchbuildError,
    graphs: Sequence[ModuleGraph],
    again: Callable[[], Header | None],
    syntax_faults: Callable[[ModuleGraph], Iterable[Fault]],
) -> TrunchbuildError:
    """The same failure with the best places that can be found.

    `again` runs once more with a stack; `syntax_faults` parses every module by another parser.
    """
    if isinstance(error, ModuleRefusedError):
        return ModuleRefusedError(error.message, faults=_mapped(error.faults, graphs), hint=error.hint)
    if not isinstance(error, GuestError) or isinstance(error, GuestLimitError):
        return error
    header = again()
    if header is None or header.fields.get("message") != error.message:
        return error
    if header.status == "syntax":
        faults = [fault for graph in graphs for fault in syntax_faults(graph)]
        return GuestError(error.message, faults=faults or error.faults)
    place = header.fields.get("place")
    faults = [replace(fault, place=str(place)) if isinstance(place, str) else fault for fault in error.faults]
    if header.status == "link" and "does not provide an export" in error.message:
        faults = [replace(fault, hint=_TYPE_HINT) for fault in faults]
    return GuestError(error.message, faults=_mapped(faults, graphs))


def _mapped(faults: Iterable[Fault], graphs: Iterable[ModuleGraph]) -> list[Fault]:
    """The faults with the author's positions, where stripping had to move code."""
    texts = {path: module.text for graph in graphs for path, module in graph.modules.items()}
    return [replace(fault, place=author_place(fault.place, texts)) for fault in faults]


def author_place(place: str, texts: dict[str, str]) -> str:
    """`path:line:column` of what ran -> of the author's file; anything else unchanged."""
    path, _, position = place.partition(":")
    line, _, column = position.partition(":")
    if path not in texts or not line.isdecimal() or not column.isdecimal():
        return place
    line_number, column_number = original_position(texts[path], int(line), int(column))
    return f"{path}:{line_number}:{column_number}"


def with_stack(request: dict[str, Json]) -> dict[str, Json]:
    """The request of a run that may look at its stack."""
    return {**request, "stackTraceLimit": STACK_DEPTH}
