"""The closed graph of a module and all that it imports, read from a tree, checked before anything runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from trunchbuild.core.link import exported_names, missing_names
from trunchbuild.core.modules import Module, ModuleBrokenError, ModuleGraph, ModuleRefusedError
from trunchbuild.core.resolve import EXTENSIONS, Refused, candidates, joined, resolve
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.survey import Finding, Import, Survey, broken
from trunchbuild.core.tree import NotAFileError, SourceTree
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.errors import BadInputError, Fault
from trunchbuild.flows.read_ahead import read_ahead


def load_graph(tree: SourceTree, entry: str, runtime: Runtime) -> ModuleGraph:
    """Read `entry` (a repository path) and what it imports; the language is that of the entry's extension.

    Raises:
        BadInputError: The entry is missing, or a file cannot be read.
        ModuleRefusedError: Modules use what is not available; every use of every module is listed.
        ModuleBrokenError: Syntax errors, imports of files or names that do not exist; all of them.
    """
    if entry.endswith(".py"):
        from trunchbuild.core.resolve_python import load_python_graph  # noqa: PLC0415 - only for Python

        return load_python_graph(tree, entry)
    if not entry.endswith(EXTENSIONS):
        kinds = " ".join((*EXTENSIONS, ".py"))
        raise BadInputError("not a module", place=entry, expected=f"a file that ends in one of {kinds}")
    graph = _Graph(tree, runtime)
    graph.load(entry)
    return graph.finish(entry)


@dataclass(slots=True)
class _Graph:
    """What has been read so far."""

    tree: SourceTree
    runtime: Runtime
    modules: dict[str, Module] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    links: dict[tuple[str, str], str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def load(self, entry: str) -> None:
        """Read wave by wave; what was read ahead is at hand."""
        read_ahead(self.tree, [entry], self.runtime)
        wave = [entry]
        while wave:
            self.tree.prefetch(wave)
            sources = {path: data for path in wave if (data := self._read(path)) is not None}
            texts = {path: text for path, text in sources.items() if not path.endswith(".json")}
            self.surveys.update(surveys := dict(self.runtime.survey(texts)) if texts else {})
            for path, survey in surveys.items():
                self.findings += survey.findings
                self.modules[path] = Module(path, self.modules[path].sha256, "javascript", survey.text)
            wave = self._targets(surveys)

    def _read(self, path: str) -> str | None:
        """The text of one file, None where it is no text; its module is noted with the digest of its bytes."""
        data = self.tree.read(path)
        is_json = path.endswith(".json")
        text = None
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.findings.append(broken(path, f"not UTF-8: invalid byte at offset {error.start}"))
        if is_json and text is not None:
            text = text.removeprefix("\ufeff")
            self._check_json(path, data)
        digest = hashlib.sha256(data).hexdigest()
        self.modules[path] = Module(path, digest, "json" if is_json else "javascript", text or "")
        return text

    def _check_json(self, path: str, data: bytes) -> None:
        try:
            read_json(data, path)
        except BadInputError as error:
            self.findings += [Finding(fault, refused=False) for fault in error.faults]

    def _targets(self, surveys: dict[str, Survey]) -> list[str]:
        """Resolve the imports of new modules; return the files that are not read yet."""
        found: dict[str, None] = {}
        for path, survey in surveys.items():
            for one in survey.imports:
                target = self._resolve(path, one)
                if one.as_json and target is not None and not target.endswith(".json"):
                    message = f'`{one.specifier}` is imported with `type: "json"`, but is no JSON file'
                    self.findings.append(broken(path, message, place=one.place))
                if target is not None and not target.startswith("node:") and target not in self.modules:
                    found[target] = None
        return list(found)

    def _resolve(self, path: str, one: Import) -> str | None:
        known = self.links.get((path, one.specifier))
        if known is not None:
            return known
        target = resolve(path, one.specifier, self.tree)
        if isinstance(target, Refused):
            place = f"{path}:{one.place}"
            fault = self._irregular(path, one, place) or Fault(place, target.message, hint=target.hint)
            self.findings.append(Finding(fault, target.refused))
            return None
        self.links[path, one.specifier] = target
        return target

    def _irregular(self, path: str, one: Import, place: str) -> Fault | None:
        """What stands where the file should be, when it is a symbolic link, a folder or a submodule."""
        wanted = joined(path, one.specifier)
        if not one.specifier.startswith(".") or self.tree.is_file(wanted):
            return None
        for candidate in candidates(wanted, is_folder=False):
            try:
                self.tree.read(candidate)
            except NotAFileError as error:
                return Fault(place, f"`{one.specifier}`: {error.faults[0]}", hint=error.hint)
            except BadInputError:
                continue
        return None

    def finish(self, entry: str) -> ModuleGraph:
        """The graph, if nothing was found against it."""
        self.findings += missing_names(self.surveys, self.modules, self.links)
        raise_findings(self.findings)
        modules = {path: self.modules[path] for path in sorted(self.modules)}
        exports = exported_names(entry, self.surveys, self.modules, self.links)
        names = None if exports is None else frozenset(exports)
        return ModuleGraph(entry, "javascript", modules, dict(sorted(self.links.items())), names)


def raise_findings(findings: Iterable[Finding]) -> None:
    """Raise the error that lists all findings, if there are any."""
    found = sorted(findings, key=lambda finding: _order(finding.fault.place))
    if not found:
        return
    faults = [finding.fault for finding in found]
    if any(finding.refused for finding in found):
        raise ModuleRefusedError("the modules use what is not available to them", faults=faults)
    raise ModuleBrokenError("the modules cannot be run", faults=faults)


def _order(place: str) -> tuple[str, list[int]]:
    path, *numbers = place.split(":")
    return path, [int(number) for number in numbers if number.isdecimal()]
