"""Whether every imported name is exported: what V8 would say when linking, but with places and all at once."""

from __future__ import annotations

from collections.abc import Mapping

from trunchbuild.core.modules import Module
from trunchbuild.core.survey import Finding, Survey, broken
from trunchbuild.core.tree import closest

_HINT = "a type is imported with `import type` or `type` before its name: types are gone when modules run"


def _hint(name: str, exported: set[str]) -> str:
    near = closest(name, sorted(exported))
    return f"{near} {_HINT}" if near else _HINT


def missing_names(
    surveys: Mapping[str, Survey], modules: Mapping[str, Module], links: Mapping[tuple[str, str], str]
) -> list[Finding]:
    """A finding per imported name that its module does not export. Built-ins are left to the guest: it knows them."""
    findings: list[Finding] = []
    for path, survey in surveys.items():
        for one in survey.imports:
            target = links.get((path, one.specifier))
            if target is None or target.startswith("node:"):
                continue
            exported = exported_names(target, surveys, modules, links)
            for name, place in one.names:
                if exported is not None and name not in exported:
                    findings.append(
                        broken(
                            path,
                            f"`{one.specifier}` does not export `{name}`",
                            code="missing-export",
                            place=place,
                            hint=_hint(name, exported),
                        )
                    )
    return findings


def exported_names(
    path: str,
    surveys: Mapping[str, Survey],
    modules: Mapping[str, Module],
    links: Mapping[tuple[str, str], str],
) -> set[str] | None:
    """Every name that a module exports, through `export *` too; None where that cannot be known here."""
    names: set[str] = set()
    waiting, seen = [path], {path}
    while waiting:
        current = waiting.pop()
        if current.startswith("node:") or current not in modules:
            return None
        if modules[current].kind == "json":
            found: frozenset[str] = frozenset({"default"})
            stars: tuple[str, ...] = ()
        else:
            if current not in surveys:
                # Its bytes are no text.
                return None
            survey = surveys[current]
            if any(not finding.refused for finding in survey.findings):
                return None
            found, stars = survey.exports, survey.star_exports
        # `export *` passes everything on but the default.
        names |= found if current == path else found - {"default"}
        for specifier in stars:
            target = links.get((current, specifier))
            if target is None:
                return None
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return names
