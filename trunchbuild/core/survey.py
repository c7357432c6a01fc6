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
    asked: frozenset[str] = frozenset()
    """Names of which it asks `typeof globalThis.NAME`: an answer, not a use."""

    def to_json(self) -> Json:
        """For a cache; `from_json` reads it back."""
        return {
            "text": self.text,
            "imports": [
                [one.specifier, one.place, [list(name) for name in one.names], one.as_json] for one in self.imports
            ],
            "exports": sorted(self.exports),
            "star_exports": list(self.star_exports),
            "findings": [[*_texts(found.fault), found.refused] for found in self.findings],
            "asked": sorted(self.asked),
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
                "asked": list(asked),
            }:
                return cls(
                    text,
                    tuple(_import(one) for one in imports),
                    frozenset(_text(name) for name in exports),
                    tuple(_text(name) for name in stars),
                    tuple(_finding(one) for one in findings),
                    frozenset(_text(name) for name in asked),
                )
        raise ValueError("not a survey")


def broken(
    path: str,
    message: str,
    *,
    code: str,
    place: str = "",
    expected: str | None = None,
    got: str | None = None,
    hint: str | None = None,
) -> Finding:
    """A module that no runtime could run; `place` is `line:column`, `code` one of `policy_codes.CODES`."""
    return Finding(Fault(f"{path}:{place}" if place else path, message, expected, got, hint, code), refused=False)


_SHOWN = 60
"""Characters of a source line in a message, half of them before the place."""


def excerpt(line: str, column: int) -> str:
    """The source line for a message; of a long one what stands around the column (from 1)."""
    start = max(0, min(column - 1 - _SHOWN // 2, len(line) - _SHOWN))
    shown = line[start : start + _SHOWN]
    before = "..." if start else ""
    after = "..." if start + _SHOWN < len(line) else ""
    return f"`{before}{shown.strip()}{after}`" if shown.strip() else "an empty line"


def _texts(fault: Fault) -> list[Json]:
    return [fault.place, fault.message, fault.expected, fault.got, fault.hint, fault.code]


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
        case [
            str(place),
            str(message),
            (str() | None) as expected,
            (str() | None) as got,
            (str() | None) as hint,
            (str() | None) as code,
            bool(refused),
        ]:
            return Finding(Fault(place, message, expected, got, hint, code), refused)
    raise ValueError("not a survey")
