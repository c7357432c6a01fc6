"""Reads the syntax trees of a package called `trunchbuild` and lists each breach of `docs/architecture.md`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LAYERS = {"errors": 0, "core": 1, "effects": 2, "flows": 3, "cli": 4}
ROOT = "trunchbuild"

# Modules that compute and nothing else: of the standard library, and of others.
PURE = {
    *("__future__", "abc", "ast", "base64", "binascii", "bisect", "builtins", "codecs", "collections", "contextlib"),
    *("copy", "dataclasses", "datetime", "decimal", "difflib", "email.utils", "enum", "fractions", "functools"),
    *("hashlib", "heapq", "hmac", "html", "io", "ipaddress", "itertools", "json", "keyword", "math", "numbers"),
    *("operator", "pathlib", "posixpath", "re", "statistics", "string", "struct", "textwrap", "tomllib", "types"),
    *("typing", "unicodedata", "urllib.parse", "warnings", "zlib", "collections.abc", "json.decoder", "json.encoder"),
}
PURE_LIBRARIES = {
    *("blake3", "esprima", "jsonschema", "re2", "rfc8785", "tomli_w", "unicodedata2"),
}
# Of modules that are pure only in part, the names that are. A `Path` may pass through core as a value.
PURE_NAMES = {"pathlib": {"Path", "PurePath", "PurePosixPath"}, "io": {"BytesIO", "StringIO"}}
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "compile", "breakpoint", "hash", "__import__", "Path"}
IMPURE_ATTRIBUTES = {
    *("now", "utcnow", "today", "environ", "getenv", "cwd", "home", "expanduser", "iterdir", "glob", "rglob"),
    *("read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "rmdir", "touch", "unlink", "stat", "lstat"),
}
ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "expanduser", "expandvars"}


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement's target, wherever it stands: at the top, in a function, under TYPE_CHECKING."""

    target: str
    """The module; for `from a import b` it is `a.b` where that is a module, else `a`."""
    name: str | None
    line: int
    relative: bool


class Package:
    """The modules below `folder`/trunchbuild and what each imports."""

    def __init__(self, folder: Path) -> None:
        self.trees: dict[str, ast.Module] = {}
        for path in sorted((folder / ROOT).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.trees[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        self.imports = {name: list(self._imports(tree)) for name, tree in self.trees.items()}

    def _imports(self, tree: ast.Module) -> Iterator[Import]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(alias.name, None, node.lineno, False)
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                for alias in node.names:
                    full = f"{base}.{alias.name}"
                    yield Import(full if full in self.trees else base, alias.name, node.lineno, node.level > 0)

    def violations(self) -> list[str]:
        """Every breach, `module:line: words`, sorted."""
        found = [
            f"{name}:{line}: {words}"
            for name in self.trees
            for check in (_directions, _doors, _guest, _names, _purity, _surroundings, _exits)
            for line, words in check(self, name)
        ]
        return sorted(found + _cycles(self))


Breaches = Iterator[tuple[int, str]]


def area(name: str) -> str:
    """The first part below the root: a layer's name, `guest`, or an empty string for the root itself."""
    return name.partition(".")[2].partition(".")[0]


def ours(target: str) -> bool:
    """Whether a module belongs to the package."""
    return target == ROOT or target.startswith(f"{ROOT}.")


def _directions(package: Package, name: str) -> Breaches:
    """A layer imports itself and the layers to its left."""
    if name == ROOT:
        yield from (
            (found.line, "the root imports nothing of ours") for found in package.imports[name] if ours(found.target)
        )
        return
    if name == f"{ROOT}.__main__" or area(name) == "guest":
        return
    if area(name) not in LAYERS:
        yield 1, f"belongs to no layer ({', '.join(LAYERS)})"
        return
    for found in package.imports[name]:
        target = area(found.target)
        if target in LAYERS and LAYERS[target] > LAYERS[area(name)]:
            yield found.line, f"{area(name)} may not import {target}"
        if name == f"{ROOT}.flows.compile" and found.target == f"{ROOT}.flows.verify":
            yield found.line, "verify may use compile, never the reverse"


def _doors(package: Package, name: str) -> Breaches:
    """Effects are seen through their api, back ends by the wiring alone, and never by one another."""
    for found in package.imports[name]:
        if area(found.target) != "effects":
            continue
        effect = found.target.split(".")[2:3]
        if area(name) == "effects":
            if effect != name.split(".")[2:3]:
                yield found.line, "effects never import one another"
        elif name != f"{ROOT}.cli.wiring" and found.target.split(".")[3:] != ["api"]:
            yield found.line, "only an effect's api is seen here; cli.wiring alone sees back ends"


def _guest(package: Package, name: str) -> Breaches:
    """The guest knows the standard library and its own files, and nobody knows the guest."""
    siblings = {other.rpartition(".")[2] for other in package.trees if area(other) == "guest"}
    known = sys.stdlib_module_names | siblings
    for found in package.imports[name]:
        if area(name) == "guest" and (ours(found.target) or found.target.partition(".")[0] not in known):
            yield found.line, f"the guest may not import {found.target}"
        elif area(found.target) == "guest":
            yield found.line, "nobody imports the guest"


def _names(package: Package, name: str) -> Breaches:
    """Full import names, that a reader and this file can see."""
    yield from ((found.line, "relative import") for found in package.imports[name] if found.relative)
    yield from ((found.line, "star import") for found in package.imports[name] if found.name == "*")
    yield from (
        (found.line, "tests are not ours to import")
        for found in package.imports[name]
        if found.target.partition(".")[0] == "tests"
    )
    if name in {f"{ROOT}.cli.main"} or area(name) == "guest":
        return
    for node in ast.walk(package.trees[name]):
        called = _called(node)
        if called in {
            "import_module",
            "__import__",
            "exec_module",
            "spec_from_file_location",
            "run_path",
            "run_module",
        }:
            yield node.lineno, f"{called} hides an import"  # type: ignore[attr-defined]


def _purity(package: Package, name: str) -> Breaches:
    """Core holds facts and rules: no files, clock, environment, network, randomness."""
    if area(name) not in {"core", "errors"}:
        return
    for found in package.imports[name]:
        if ours(found.target) or found.relative:
            continue
        if found.target not in PURE and found.target.partition(".")[0] not in PURE_LIBRARIES:
            yield found.line, f"core may not import {found.target}"
        elif found.target in PURE_NAMES and found.name not in PURE_NAMES[found.target]:
            yield found.line, f"core may not import {found.name or 'all'} of {found.target}"
    for node in ast.walk(package.trees[name]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            yield node.lineno, f"core may not call {node.func.id}"
        elif isinstance(node, ast.Attribute) and node.attr in IMPURE_ATTRIBUTES:
            yield node.lineno, f"core may not use {node.attr}"


def _surroundings(package: Package, name: str) -> Breaches:
    """Only the settings read the environment and the user's own folders."""
    if name == f"{ROOT}.cli.settings" or area(name) == "guest":
        return
    for found in package.imports[name]:
        if found.target == "platformdirs" or (found.target == "os" and found.name in ENVIRONMENT):
            yield found.line, "only cli.settings reads the environment"
    for node in ast.walk(package.trees[name]):
        if (isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT) or (
            isinstance(node, ast.Attribute)
            and node.attr == "home"
            and isinstance(node.value, ast.Name)
            and node.value.id == "Path"
        ):
            yield node.lineno, "only cli.settings reads the environment"
        elif isinstance(node, ast.keyword) and node.arg in {"envvar", "auto_envvar_prefix", "show_envvar"}:
            yield node.value.lineno, "only cli.settings reads the environment"


def _exits(package: Package, name: str) -> Breaches:
    """Only the command line's main ends the process."""
    if name == f"{ROOT}.cli.main" or area(name) == "guest":
        return
    for node in ast.walk(package.trees[name]):
        ends = (
            isinstance(node, ast.Attribute)
            and node.attr == "exit"
            and isinstance(node.value, ast.Name)
            and node.value.id == "sys"
        )
        if ends or (isinstance(node, ast.Name) and node.id in {"SystemExit", "exit", "quit"}):
            yield node.lineno, "only cli.main exits"  # type: ignore[attr-defined]


def _called(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else None


def _cycles(package: Package) -> list[str]:
    """Modules that import one another in a circle, counting deferred and type-only imports."""
    edges = {
        name: sorted({found.target for found in package.imports[name] if found.target in package.trees})
        for name in package.trees
    }
    done: set[str] = set()
    found: list[str] = []

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            circle = path[path.index(name) :]
            found.append(f"{min(circle)}:1: circle of imports: {' -> '.join([*circle, name])}")
        elif name not in done:
            for target in edges[name]:
                visit(target, [*path, name])
            done.add(name)

    for name in sorted(edges):
        visit(name, [])
    return found
