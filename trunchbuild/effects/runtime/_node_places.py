"""Finds the author's line for what a failed run said.

`Error.stackTraceLimit` is 0 while modules run, since a stack is a trace of the machine. Where a run failed, it is run
once more with a stack, only to look where it fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import Module, ModuleGraph, ModuleRefusedError
from trunchbuild.core.places import Places
from trunchbuild.core.survey import Survey
from trunchbuild.effects.runtime._two_runs import Header
from trunchbuild.effects.runtime.api import GuestError, GuestLimitError
from trunchbuild.errors import Fault, TrunchbuildError

STACK_DEPTH = 20

_MISSING = re.compile(r"The requested module '(.+)' does not provide an export named '(.+)'")
_CONFLICTING = re.compile(r"The requested module '(.+)' contains conflicting star exports for name '([^']+)'")
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_BUILTIN_HINT = "of Node's built-in modules only what is pure is there"


def with_places(
    error: TrunchbuildError,
    graphs: Sequence[ModuleGraph],
    again: Callable[[], Header | None],
    look: Callable[[Module, Header], Iterable[Fault]],
) -> TrunchbuildError:
    """The same failure with the best places that can be found.

    `again` runs once more with a stack; `look` searches one module for the place of what V8 said.
    """
    if isinstance(error, ModuleRefusedError):
        return ModuleRefusedError(error.message, faults=_mapped(error.faults, graphs), hint=error.hint)
    if not isinstance(error, GuestError) or isinstance(error, GuestLimitError):
        return error
    if all(fault.place for fault in error.faults):
        return error
    header = again()
    if header is None or header.fields.get("message") != error.message:
        return error
    if header.status in {"syntax", "link"}:
        modules = {path: module for graph in graphs for path, module in graph.modules.items()}
        scripts = [module for module in modules.values() if module.kind == "javascript"]
        found = [fault for module in scripts for fault in look(module, header)]
        return GuestError(error.message, faults=found or error.faults)
    place = header.fields.get("place")
    faults = [replace(fault, place=str(place)) if isinstance(place, str) else fault for fault in error.faults]
    return GuestError(error.message, faults=_mapped(faults, graphs))


def missing_export(path: str, survey: Survey, message: str) -> Iterator[Fault]:
    """The import that V8 complains about, with its place."""
    found = _MISSING.search(message) or _CONFLICTING.search(message)
    if found is None:
        return
    specifier, name = found.groups()
    fault = Fault("", f"`{specifier}` does not export `{name}`", hint=_BUILTIN_HINT)
    if found.re is _CONFLICTING:
        fault = Fault(
            "", f"two `export *` of `{specifier}` export `{name}`", hint="import it from the module that has it"
        )
    for one in survey.imports:
        for imported, place in one.names if one.specifier == specifier else ():
            if imported == name:
                yield replace(fault, place=f"{path}:{place}")


def _mapped(faults: Iterable[Fault], graphs: Sequence[ModuleGraph]) -> list[Fault]:
    """The faults with the author's positions; each is mapped once, by a graph that has the line."""
    return [
        replace(
            fault, place=next((found for graph in graphs if (found := _mapped_by(graph, fault.place))), fault.place)
        )
        for fault in faults
    ]


def author_place(place: str, graph: ModuleGraph) -> str:
    """`path:line:column` of what ran -> of the author's file; anything else unchanged."""
    return _mapped_by(graph, place) or place


def _mapped_by(graph: ModuleGraph, place: str) -> str | None:
    path, _, position = place.partition(":")
    line, _, column = position.partition(":")
    # A module has fewer lines than this has digits; what runs beside the runner may tell any number.
    if path not in graph.modules or not _NUMBER.match(line) or not _NUMBER.match(column):
        return None
    module = graph.modules[path]
    found = Places(module.text, module.source).of_runtime(int(line), int(column))
    return None if found is None else f"{path}:{found[0]}:{found[1]}"


def with_stack(request: dict[str, Json]) -> dict[str, Json]:
    """The request of a run that may look at its stack."""
    return {**request, "stackTraceLimit": STACK_DEPTH}
