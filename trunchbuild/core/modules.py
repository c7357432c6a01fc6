"""The closed graph of modules that one run of untrusted code may see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.survey import Finding
from trunchbuild.errors import BadInputError, Fault

Language = Literal["javascript", "python"]


@dataclass(frozen=True, slots=True)
class Module:
    """One file of the repository as the guest gets it."""

    path: str
    """Repository path."""
    sha256: str
    """Bare hex, of the raw bytes."""
    kind: Literal["javascript", "json", "python"]
    text: str
    """What runs: stripped JavaScript, JSON text, or Python source."""
    source: str | None = None
    """The author's text where another runs: positions of what runs are found in it (`core/places.py`)."""


@dataclass(frozen=True, slots=True)
class ModuleGraph:
    """An entry module and all that it imports, resolved; nothing outside this map exists for the guest."""

    entry: str
    language: Language
    modules: Mapping[str, Module]
    """By path, sorted."""
    links: Mapping[tuple[str, str], str]
    """(importing path, specifier as written) -> repository path, or `node:NAME` for a built-in."""
    exports: frozenset[str] | None = None
    """Names that the entry exports; None where only running it could tell."""
    asked: frozenset[str] = frozenset()
    """Names of which some module asks `typeof globalThis.NAME`."""


class ModuleRefusedError(BadInputError):
    """Modules use what is not available (clock, randomness, network, packages ...) or cannot be read.

    Every finding of every module is a fault with its place `path:line:column`; nothing has run yet unless a fault
    says that it was seen while running.
    """

    slug = "module-refused"


class ModuleBrokenError(BadInputError):
    """Modules that no runtime could run: syntax errors, imports of files or names that do not exist."""

    slug = "module-broken"


def raise_findings(findings: Iterable[Finding]) -> None:
    """Raise the error that lists all findings in the order of their places, if there are any.

    Raises:
        ModuleRefusedError: Among them is something that is not available.
        ModuleBrokenError: All are of modules that no runtime could run.
    """
    found = sorted(dict.fromkeys(findings), key=lambda finding: order_of_place(finding.fault.place))
    if not found:
        return
    faults: list[Fault] = [finding.fault for finding in found]
    if any(finding.refused for finding in found):
        raise ModuleRefusedError("the modules use what is not available to them", faults=faults)
    raise ModuleBrokenError("the modules cannot be run", faults=faults)


_POSITION = re.compile(r"(?::(\d{1,9}))?(?::(\d{1,9}))?\Z")


def order_of_place(place: str) -> tuple[str, int, int]:
    """A key that sorts places by file, line, column."""
    found = _POSITION.search(place)
    if found is None:
        return place, 0, 0
    return place[: found.start()], int(found[1] or 0), int(found[2] or 0)
