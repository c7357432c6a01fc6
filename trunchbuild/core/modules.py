"""The closed graph of modules that one run of untrusted code may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from trunchbuild.errors import BadInputError

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
    """What runs: stripped JavaScript (positions are the author's), JSON text, or Python source."""


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


class ModuleRefusedError(BadInputError):
    """Modules use what is not available (clock, randomness, network, packages ...) or cannot be read.

    Every finding of every module is a fault with its place `path:line:column`; nothing has run yet unless a fault
    says that it was seen while running.
    """

    slug = "module-refused"


class ModuleBrokenError(BadInputError):
    """Modules that no runtime could run: syntax errors, imports of files or names that do not exist."""

    slug = "module-broken"
