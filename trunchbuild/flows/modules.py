"""The closed graph of a module and all that it imports, read from a tree, checked before anything runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

from trunchbuild.core.link import exported_names, missing_names
from trunchbuild.core.module_text import module_text, too_many
from trunchbuild.core.modules import Module, ModuleGraph, raise_findings
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
    code_bytes: int = 0

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
                source = None if texts[path] == survey.text else texts[path]
                self.modules[path] = Module(path, self.modules[path].sha256, "javascript", survey.text, source)
            wave = self._targets(surveys)
            limit = too_many(entry, len(self.modules) + len(wave), self.code_bytes)
            if limit is not None:
                self.findings.append(limit)
                return

    def _read(self, path: str) -> str | None:
        """The text of one file, None where it is no text; its module is noted with the digest of its bytes."""
        data = self.tree.read(path)
        is_json = path.endswith(".json")
        text, problem = module_text(path, data)
        if problem is not None:
            self.findings.append(problem)
        elif is_json:
            self._check_json(path, data)
        else:
            self.code_bytes += len(data)
        digest = hashlib.sha256(data).hexdigest()
        self.modules[path] = Module(path, digest, "json" if is_json else "javascript", text or "")
        return text

    def _check_json(self, path: str, data: bytes) -> None:
        try:
            read_json(data, path)
        except BadInputError as error:
            self.findings += [Finding(replace(fault, code="json"), refused=False) for fault in error.faults]

    def _targets(self, surveys: dict[str, Survey]) -> list[str]:
        """Resolve the imports of new modules; return the files that are not read yet."""
        found: dict[str, None] = {}
        for path, survey in surveys.items():
            for one in survey.imports:
                target = self._resolve(path, one)
                if one.as_json and target is not None and not target.endswith(".json"):
                    message = f'`{one.specifier}` is imported with `type: "json"`, but is no JSON file'
                    self.findings.append(broken(path, message, code="import-attribute", place=one.place))
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
            fault = self._irregular(path, one, place)
            if fault is None:
                fault = Fault(place, target.message, hint=target.hint, code=target.code)
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
                return Fault(place, f"`{one.specifier}`: {error.faults[0]}", hint=error.hint, code="missing-import")
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
        asked = frozenset(name for survey in self.surveys.values() for name in survey.asked)
        return ModuleGraph(entry, "javascript", modules, dict(sorted(self.links.items())), names, asked)
