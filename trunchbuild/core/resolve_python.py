"""Reads a Python module and all that it imports from the repository; checked before anything runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from trunchbuild.core.module_text import module_text, too_many
from trunchbuild.core.modules import Module, ModuleGraph, raise_findings
from trunchbuild.core.policy_python import RelativeImport, check_python
from trunchbuild.core.survey import Finding
from trunchbuild.core.tree import NotAFileError, SourceTree, closest
from trunchbuild.errors import BadInputError, Fault

LIBRARY_LINK = "python:"
"""Before the name of a module of Python's own library, as the target of a link."""


def load_python_graph(tree: SourceTree, entry: str) -> ModuleGraph:
    """Read `entry` and what it imports.

    Raises:
        BadInputError: The entry is missing, or a file cannot be read.
        ModuleRefusedError: Modules use what is not available; every use of every module is listed.
        ModuleBrokenError: Syntax errors, text that is not UTF-8, imports of files that do not exist; all of them.
    """
    modules: dict[str, Module] = {}
    links: dict[tuple[str, str], str] = {}
    findings: list[Finding] = []
    waiting, size = [entry], 0
    while waiting:
        path = waiting.pop(0)
        if path in modules:
            continue
        data = tree.read(path)
        text, problem = module_text(path, data)
        if problem is not None:
            findings.append(problem)
        size += len(data)
        modules[path] = Module(path, hashlib.sha256(data).hexdigest(), "python", text or "")
        checked = check_python(path, text or "")
        resolved = resolve_python(path, checked.imports, tree.is_file, partial(_nearest, tree))
        findings += [*checked.findings, *resolved.findings]
        links.update(resolved.links)
        links.update({(path, name): LIBRARY_LINK + name for name in checked.library})
        waiting += resolved.links.values()
        limit = too_many(entry, len(modules), size)
        if limit is not None:
            findings.append(limit)
            break
    raise_findings(findings)
    return ModuleGraph(entry, "python", {path: modules[path] for path in sorted(modules)}, dict(sorted(links.items())))


def _nearest(tree: SourceTree, tried: list[str]) -> str | None:
    """What stands where one of the tried files should be, or nearest to the first."""
    for path in tried:
        try:
            tree.read(path)
        except NotAFileError as error:
            return str(error.faults[0])
        except BadInputError:
            continue
    return closest(tried[0], [path for path in tree.paths() if path.endswith(".py")]) if tried else None


@dataclass(frozen=True, slots=True)
class PythonLinks:
    """Where the imports of one module lead."""

    links: dict[tuple[str, str], str]
    """(importing path, specifier such as `.lib.deep`) -> repository path."""
    findings: tuple[Finding, ...]


Nearest = Callable[[list[str]], str | None]
"""Files that do not exist -> a hint at what does."""


def resolve_python(
    path: str,
    imports: tuple[RelativeImport, ...],
    is_file: Callable[[str], bool],
    nearest: Nearest = lambda _tried: None,
) -> PythonLinks:
    """Resolve every import of the module at `path`; all that lead nowhere are listed.

    As in Python, `.a.b` is `a/b.py` or the package `a/b/__init__.py`, packages on the way run their `__init__.py` where
    they have one, and an item of a package may be a module in its folder.
    """
    links: dict[tuple[str, str], str] = {}
    found = [_link(path, wanted, is_file, links, nearest) for wanted in imports]
    return PythonLinks(links, tuple(finding for finding in found if finding is not None))


def _link(
    path: str,
    wanted: RelativeImport,
    is_file: Callable[[str], bool],
    links: dict[tuple[str, str], str],
    nearest: Nearest,
) -> Finding | None:
    dots = len(wanted.spec) - len(wanted.spec.lstrip("."))
    names = wanted.spec[dots:].split(".") if wanted.spec[dots:] else []
    folders = path.split("/")[:-1]
    if dots - 1 > len(folders):
        message = f"`{wanted.spec}` leaves the repository"
        fault = Fault(wanted.place, message, hint="import only from inside it", code="import-outside")
        return Finding(fault, refused=True)
    folder = folders[: len(folders) - (dots - 1)]
    found = _file(folder, is_file)
    if found is not None:
        links[path, wanted.spec[:dots]] = found
    for count, name in enumerate(names, 1):
        folder = [*folder, name]
        found = _file(folder, is_file)
        if found is not None:
            links[path, wanted.spec[:dots] + ".".join(names[:count])] = found
    is_module = found is not None and not found.endswith("/__init__.py") and found != "__init__.py"
    missing = []
    for item in wanted.items:
        target = None if is_module or item == "*" else _file([*folder, item], is_file)
        if target is not None:
            links[path, f"{wanted.spec}{'' if wanted.spec.endswith('.') else '.'}{item}"] = target
        elif found is None:
            missing.append("/".join([*folder, item]) if item != "*" else "/".join([*folder, "__init__"]))
    if not missing:
        return None
    tried = [f"{name}.py" for name in ("/".join(folder), *missing) if name]
    expected = " or ".join(dict.fromkeys(tried))
    message = f"`{wanted.spec}` is no module of this repository"
    return Finding(Fault(wanted.place, message, expected, hint=nearest(tried), code="missing-import"), refused=False)


def _file(parts: list[str], is_file: Callable[[str], bool]) -> str | None:
    return next((path for path in _candidates(parts) if is_file(path)), None)


def _candidates(parts: list[str]) -> Iterator[str]:
    """A package goes before a module of the same name, as in Python."""
    yield "/".join([*parts, "__init__.py"])
    if parts:
        yield "/".join(parts) + ".py"
