"""`inspect --portability`: does anything in a benchmark depend on locale or time zone?

A release is built under en-US and UTC, stated and pinned, so this is a warning: authors who run their modules elsewhere
would get other cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.loaded import CaseLines, LoadedBenchmark, LoadedEval
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.schemas.api import Schemas
from trunchbuild.errors import Fault, TrunchbuildError
from trunchbuild.flows.load import load_benchmark

ELSEWHERE = "locale tr-TR, time zone Pacific/Kiritimati"

_LISTED = 5


def portability_faults(here: LoadedBenchmark, tree: SourceTree, elsewhere: Runtime, schemas: Schemas) -> list[Fault]:
    """Load the benchmark again by a runtime that stands elsewhere, and compare every case."""
    try:
        with load_benchmark(tree, here.config_path, elsewhere, schemas) as there:
            theirs = {item.id: item for item in there.evals}
            return [fault for item in here.evals for fault in _compare(item, theirs.get(item.id))]
    except TrunchbuildError as error:
        return [Fault(fault.place, f"under {ELSEWHERE}: {fault.message}") for fault in error.faults]


def _compare(here: LoadedEval, there: LoadedEval | None) -> Iterator[Fault]:
    place = here.module.path if here.transformer is None else here.transformer.path
    if there is None:
        yield Fault(place, f"the eval's id is another one under {ELSEWHERE}")
        return
    names: list[str] = []
    count = 0
    for ours, theirs in zip_longest(here.cases, there.cases):
        if ours is None or theirs is None or (ours.public, ours.private) != (theirs.public, theirs.private):
            count += 1
            if count <= _LISTED:
                names.append(_difference(ours, theirs))
    if count:
        more = f" and {count - _LISTED:,} more" if count > _LISTED else ""
        yield Fault(
            place,
            f"{count:,} {'case is another' if count == 1 else 'cases are others'} under {ELSEWHERE}",
            got=", ".join(names) + more,
            hint="toLocaleLowerCase, localeCompare, Intl and local dates take a locale or zone: name it",
        )


def _difference(ours: CaseLines | None, theirs: CaseLines | None) -> str:
    if ours is None or theirs is None:
        return f"case {ours.id if ours is not None else theirs.id if theirs is not None else ''} on one side only"
    if ours.id != theirs.id:
        return f"case {ours.id} (as {theirs.id})"
    fields = [
        f"/{name}"
        for mine, other in ((ours.public, theirs.public), (ours.private, theirs.private))
        for name in _differing(_members(mine), _members(other))
    ]
    return f"case {ours.id} {' '.join(fields)}"


def _members(line: bytes) -> JsonObject:
    value = read_json(line, "case")
    assert isinstance(value, Mapping)
    return value


def _differing(mine: JsonObject, other: JsonObject) -> list[str]:
    return [name for name in {**mine, **other} if mine.get(name) != other.get(name)]
