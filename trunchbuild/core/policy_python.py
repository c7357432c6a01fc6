"""Static findings in a Python transformer, and what it imports. Runs before any of its code does."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from trunchbuild.core.places import LINE_END, Places
from trunchbuild.core.policy_codes import code_of_python
from trunchbuild.core.python_library import (
    BUILTINS,
    LIBRARY,
    LOADED_WITH_PARENT,
    MODULE_HINTS,
    REFUSED_BUILTINS,
    WITHHELD,
    is_refused_attribute,
)
from trunchbuild.core.python_scopes import Scope, Scopes, parts_of_scope, scope_of
from trunchbuild.core.survey import Finding, excerpt
from trunchbuild.errors import Fault

# PEP 263: in one of the first two lines; in the second only below a line without code.
_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE = re.compile(r"^[ \t\f]*(?:#|\r?$)")
_UTF8 = ("utf-8", "utf8", "u8", "utf")
_NO_FILE = "/dev/null/module"
"""For some errors Python opens the file that it believes to read. None can have this name."""

_TOO_DEEP = re.compile("too complex|too many (?:statically )?nested|too deeply")
_DEL = "`__del__` runs at a moment that differs from run to run"
_GUARDED_METHODS = ("format", "format_map")
"""A class pattern would read these methods past the guard of format strings."""


@dataclass(frozen=True, slots=True)
class RelativeImport:
    """`from SPEC import ITEMS`, where `spec` starts with its dots (`.helpers`, `..`); `*` stands among the items."""

    spec: str
    items: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class CheckedModule:
    """What reading a module found."""

    findings: tuple[Finding, ...]
    """In the order of the text; empty when the module may run."""
    imports: tuple[RelativeImport, ...]
    """Of other modules of the repository."""
    library: frozenset[str]
    """Modules of Python's own library that it imports, with their allowed parents."""


def check_python(path: str, text: str) -> CheckedModule:
    """Read one module. `path` is for places; nothing is opened."""
    source = text.removeprefix("\ufeff")
    problem = _declares_another(path, source)
    if problem is not None:
        return problem
    try:
        tree = _parsed(source)
    except SyntaxError as error:
        if _TOO_DEEP.search(str(error.msg)):
            return _too_deep(path)
        return _no_python(path, source, str(error.msg), *_place_of_error(source, error))
    except (ValueError, RecursionError, MemoryError):
        return _too_deep(path)
    checker = _Checker(path, source)
    checker.check(tree)
    return checker.result()


def _declares_another(path: str, source: str) -> CheckedModule | None:
    """What no parser needs to look at: another encoding, and null characters, which end a text in C."""
    declared = _declared_encoding(source)
    if declared is not None:
        place, hint = f"{path}:{declared[0]}:1", "leave the declaration out"
        return _unreadable(Fault(place, "the file declares an encoding", "utf-8", declared[1], hint, "not-utf8"))
    null = source.find("\0")
    return None if null < 0 else _no_python(path, source, "a null character", *Places(source).of_character(null))


def _too_deep(path: str) -> CheckedModule:
    return _unreadable(Fault(path, "the code is nested too deeply", hint="data belongs into a source", code="too-deep"))


def _no_python(path: str, source: str, message: str, line: int, column: int) -> CheckedModule:
    lines = LINE_END.split(source)
    got = excerpt(lines[line - 1], column) if line <= len(lines) else "the end of the file"
    place = f"{path}:{line}:{column}"
    return _unreadable(Fault(place, f"syntax error: {message}", "Python", got, code="syntax"))


def _place_of_error(source: str, error: SyntaxError) -> tuple[int, int]:
    """Python's place; it gives no line, or one past the last, where it means the end."""
    if not error.lineno:
        return 1, 1
    count = len(LINE_END.split(source))
    return min(error.lineno, count), max(error.offset or 1, 1)


def _parsed(source: str) -> ast.Module:
    """The tree. What Python only warns about, such as an unknown escape, is no matter of this tool's users."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, _NO_FILE)


def _declared_encoding(source: str) -> tuple[int, str] | None:
    """Line and name of a declared encoding in which the bytes would mean another text."""
    for number, line in enumerate(source.split("\n", 2)[:2], 1):
        declared = _CODING.match(line)
        if declared:
            name = declared[1].lower().replace("_", "-")
            fits = name in _UTF8 or name.startswith("utf-8-") or (name in ("ascii", "us-ascii") and source.isascii())
            return None if fits else (number, declared[1])
        if not _NO_CODE.match(line):
            return None
    return None


def _unreadable(fault: Fault) -> CheckedModule:
    return CheckedModule((Finding(fault, refused=False),), (), frozenset())


def is_never_run(node: ast.AST) -> bool:
    """Whether a statement is `if __name__ == "__main__":` or `if TYPE_CHECKING:`, whose body no import runs."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    match node.test:
        case (
            ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")])
            | ast.Name(id="TYPE_CHECKING")
        ):
            return True
        case ast.Attribute(value=ast.Name(id="typing"), attr="TYPE_CHECKING"):
            return True
    return False


def _way_to(module: str) -> str:
    """What to do about a module that is none of Python's library for transformers."""
    parent, _, name = module.rpartition(".")
    own = f"a module of this repository is imported with its dots: `from .{parent} import {name}`"
    return f"{own}; of Python's library there is what docs/reference/python-transformers.md lists"


class _Checker:
    """Walks one tree with a stack of its own, so that no nesting exhausts Python's."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = LINE_END.split(text)
        self._scopes = Scopes()
        self._found: list[tuple[int, int, Fault]] = []
        self._imports: list[RelativeImport] = []
        self._library: set[str] = set()
        self._aliases: dict[str, str] = {}
        self._inherited_hash: ast.AST | None = None

    def result(self) -> CheckedModule:
        """What was found, in the order of the text."""
        faults = dict.fromkeys(fault for _, _, fault in sorted(self._found, key=lambda found: found[:2]))
        findings = tuple(Finding(fault, refused=True) for fault in faults)
        return CheckedModule(findings, tuple(self._imports), frozenset(self._library))

    def check(self, tree: ast.Module) -> None:
        """Look at every node. A scope on the stack opens there; None closes the innermost one."""
        waiting: list[ast.AST | Scope | None] = [tree]
        while waiting:
            node = waiting.pop()
            if node is None:
                self._scopes.stack.pop()
            elif isinstance(node, Scope):
                self._scopes.stack.append(node)
            elif not is_never_run(node):
                self._look(node)
                scope = scope_of(node)
                if scope is None:
                    waiting.extend(reversed(list(ast.iter_child_nodes(node))))
                else:
                    outside, inside = parts_of_scope(node)
                    waiting.extend([None, *reversed(inside), scope, *reversed(outside)])

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self._name(node, node.id)
            elif node.id == "__del__":
                self._find(node, _DEL)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._imported(node)
        else:
            self._other(node)

    def _other(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(value=owner, attr=name):
                self._read_attribute(node, owner, name)
            case ast.Assign(targets=[ast.Name(id="__hash__")], value=ast.Attribute(attr="__hash__") as inherited):
                self._inherited_hash = inherited
            case ast.MatchClass(kwd_attrs=names):
                self._class_pattern(node, names)
            case ast.Assign(targets=[ast.Name(id="__match_args__")], value=value):
                for part in ast.walk(value):
                    if isinstance(part, ast.Constant) and is_refused_attribute(str(part.value)):
                        self._attribute(part, str(part.value))
            case ast.FunctionDef(name="__del__"):
                self._find(node, _DEL)

    def _class_pattern(self, node: ast.AST, names: list[str]) -> None:
        for name in names:
            if is_refused_attribute(name):
                self._attribute(node, name)
            elif name in _GUARDED_METHODS:
                self._find(node, f"`{name}` in a class pattern is not available to transformers")

    def _read_attribute(self, node: ast.AST, owner: ast.expr, name: str) -> None:
        base = owner.id if isinstance(owner, ast.Name) else ""
        if base in self._aliases and self._scopes.means_the_modules(base):
            self._member(node, self._aliases[base], name)
        elif is_refused_attribute(name):
            self._attribute(node, name)
        elif name == "__hash__" and node is not self._inherited_hash and not self._scopes.inside("__hash__"):
            self._find(node, "`__hash__` is not available to transformers", REFUSED_BUILTINS["hash"])

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._import(node, alias)
        elif node.level == 0:
            self._import_from(node, node.module or "", [alias.name for alias in node.names])
        else:
            for alias in node.names:
                if is_refused_attribute(alias.name):
                    self._attribute(node, alias.name)
            spec = "." * node.level + (node.module or "")
            self._imports.append(RelativeImport(spec, tuple(alias.name for alias in node.names), self._place(node)))

    def _name(self, node: ast.AST, name: str) -> None:
        if self._scopes.binds(name) or (name == "hash" and self._scopes.inside("__hash__")):
            return
        if name in REFUSED_BUILTINS:
            self._find(node, f"`{name}` is not available to transformers", REFUSED_BUILTINS[name])
        elif is_refused_attribute(name) and name not in BUILTINS:
            self._find(node, f"`{name}` is not available to transformers")

    def _attribute(self, node: ast.AST, name: str) -> None:
        self._find(node, f"the attribute `{name}` is not available to transformers", "it leads into the interpreter")

    def _import(self, node: ast.AST, alias: ast.alias) -> None:
        if alias.name not in LIBRARY:
            self._refuse_module(node, alias.name)
            return
        self._allow(alias.name)
        if alias.asname or "." not in alias.name:
            self._aliases[alias.asname or alias.name] = alias.name

    def _import_from(self, node: ast.AST, module: str, names: list[str]) -> None:
        submodules = [name for name in names if f"{module}.{name}" in LIBRARY]
        for name in submodules:
            self._allow(f"{module}.{name}")
        if module in LIBRARY:
            self._allow(module)
            for name in names:
                if name not in submodules and name != "*":
                    self._member(node, module, name)
        elif len(submodules) < len(names):
            self._refuse_module(node, module)

    def _member(self, node: ast.AST, module: str, name: str) -> None:
        """A name of a library module: refused where the table tells; the guest knows the rest."""
        names = LIBRARY[module]
        allowed = name in names or f"{module}.{name}" in LIBRARY if names else name not in WITHHELD.get(module, ())
        if is_refused_attribute(name):
            self._attribute(node, name)
        elif f"{module}.{name}" in LOADED_WITH_PARENT:
            self._allow(f"{module}.{name}")
        elif not allowed or (name.startswith("_") and not name.endswith("__")):
            hint = f"of this module there are {', '.join(names)}" if names else None
            self._find(node, f"`{module}.{name}` is not available to transformers", MODULE_HINTS.get(module) or hint)

    def _allow(self, module: str) -> None:
        while module:
            if module in LIBRARY:
                self._library.add(module)
            module = module.rpartition(".")[0]

    def _refuse_module(self, node: ast.AST, module: str) -> None:
        hint = MODULE_HINTS.get(module) or MODULE_HINTS.get(module.partition(".")[0])
        self._find(node, f"the module `{module}` is not available to transformers", hint or _way_to(module))

    def _find(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        line, column = self._position(node)
        fault = Fault(f"{self._path}:{line}:{column}", message, hint=hint, code=code_of_python(message))
        self._found.append((line, column, fault))

    def _place(self, node: ast.AST) -> str:
        line, column = self._position(node)
        return f"{self._path}:{line}:{column}"

    def _position(self, node: ast.AST) -> tuple[int, int]:
        """Line and column from 1, in characters; the parser counts bytes of UTF-8."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return line, len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1
