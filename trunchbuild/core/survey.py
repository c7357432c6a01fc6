"""What reading one JavaScript module without running it tells."""

from __future__ import annotations

from dataclasses import dataclass

from trunchbuild.core.json_types import Json
from trunchbuild.errors import Fault


@dataclass(frozen=True, slots=True)
class Import:
    """One `import` or `export ... from`; places are `line:column` of the author's file, from 1."""

    specifier: str
    place: str
    names: tuple[tuple[str, str], ...]
    """(imported name, place); `default` is a name, a namespace import has none."""
    as_json: bool = False
    """Whether it is written `with { type: "json" }`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a module. `refused` tells what is not available from what is broken."""

    fault: Fault
    refused: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """One module, read."""

    text: str
    """What runs."""
    imports: tuple[Import, ...] = ()
    exports: frozenset[str] = frozenset()
    star_exports: tuple[str, ...] = ()
    """Specifiers of `export * from`: their names are exported too."""
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> Json:
        """For a cache; `from_json` reads it back."""
        return {
            "text": self.text,
            "imports": [
                [one.specifier, one.place, [list(name) for name in one.names], one.as_json] for one in self.imports
            ],
            "exports": sorted(self.exports),
            "star_exports": list(self.star_exports),
            "findings": [
                [found.fault.place, found.fault.message, found.fault.hint, found.refused] for found in self.findings
            ],
        }

    @classmethod
    def from_json(cls, value: Json) -> Survey:
        """Read what `to_json` wrote.

        Raises:
            ValueError: It is anything else.
        """
        match value:
            case {
                "text": str(text),
                "imports": list(imports),
                "exports": list(exports),
                "star_exports": list(stars),
                "findings": list(findings),
            }:
                return cls(
                    text,
                    tuple(_import(one) for one in imports),
                    frozenset(_text(name) for name in exports),
                    tuple(_text(name) for name in stars),
                    tuple(_finding(one) for one in findings),
                )
        raise ValueError("not a survey")


def broken(path: str, message: str, *, place: str = "", hint: str | None = None) -> Finding:
    """A module that no runtime could run; `place` is `line:column`."""
    return Finding(Fault(f"{path}:{place}" if place else path, message, hint=hint), refused=False)


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise ValueError("not a survey")
    return value


def _import(value: Json) -> Import:
    match value:
        case [str(specifier), str(place), list(names), bool(as_json)]:
            return Import(specifier, place, tuple(_name(name) for name in names), as_json)
    raise ValueError("not a survey")


def _name(value: Json) -> tuple[str, str]:
    match value:
        case [str(name), str(place)]:
            return name, place
    raise ValueError("not a survey")


def _finding(value: Json) -> Finding:
    match value:
        case [str(place), str(message), (str() | None) as hint, bool(refused)]:
            return Finding(Fault(place, message, hint=hint), refused)
    raise ValueError("not a survey")
