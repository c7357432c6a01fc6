"""Which names of a Python module are its own, so that `id` as a variable is told from `id` the built-in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)


@dataclass(slots=True)
class Scope:
    """One scope with the names that are bound in it; `is_class` scopes are not seen from functions inside."""

    names: set[str]
    is_class: bool = False
    function: str = ""
    """Name of the function whose scope it is."""


@dataclass(slots=True)
class Scopes:
    """The scopes around a node, outermost first."""

    stack: list[Scope] = field(default_factory=list)

    def binds(self, name: str) -> bool:
        """Whether the name belongs to the module's own code here."""
        last = len(self.stack) - 1
        return any(
            name in scope.names and (not scope.is_class or position == last)
            for position, scope in enumerate(self.stack)
        )

    def means_the_modules(self, name: str) -> bool:
        """Whether the name here is the one bound at the top of the module."""
        return not any(name in scope.names for scope in self.stack[1:])

    def inside(self, method: str) -> bool:
        """Whether the node stands in a method of that name."""
        around = zip(self.stack, self.stack[1:], strict=False)
        return any(outer.is_class and scope.function == method for outer, scope in around)


def scope_of(node: ast.AST) -> Scope | None:
    """The scope that a node opens, None if it opens none."""
    if isinstance(node, ast.Module):
        names = bound_in(node.body)
        # `global x` in a function binds in the module.
        names |= {name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names}
        return Scope(names)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return Scope(_arguments(node.args) | bound_in(node.body), function=node.name)
    if isinstance(node, ast.Lambda):
        return Scope(_arguments(node.args) | bound_in([node.body]))
    if isinstance(node, ast.ClassDef):
        return Scope(bound_in(node.body), is_class=True)
    if isinstance(node, _COMPREHENSIONS):
        return Scope({name for part in node.generators for name in bound_in([part.target])})
    return None


def parts_of_scope(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """What of a scope's node is evaluated outside it (decorators, defaults, the first iterable), and what inside."""
    inside: list[ast.AST] = []
    if isinstance(node, _COMPREHENSIONS):
        outside: list[ast.AST] = [node.generators[0].iter]
    elif isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        inside = list(node.body)
        outside = [part for part in ast.iter_child_nodes(node) if part not in inside]
        return outside, inside
    else:
        assert isinstance(node, ast.Lambda)
        return [node.args], [node.body]
    for part in ast.iter_child_nodes(node):
        inside += ast.iter_child_nodes(part) if isinstance(part, ast.comprehension) else [part]
    return outside, [part for part in inside if part is not outside[0]]


def _arguments(arguments: ast.arguments) -> set[str]:
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {argument.arg for argument in (*plain, arguments.vararg, arguments.kwarg) if argument is not None}


def bound_in(nodes: list[ast.stmt] | list[ast.expr]) -> set[str]:
    """Names that the nodes bind in their own scope."""
    names: set[str] = set()
    for node in _own(list(nodes)):
        names.update(_binds(node))
    return names


def _own(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of one scope; of a scope inside only its head, and `:=` out of comprehensions."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, _COMPREHENSIONS):
            waiting += [inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
        elif not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


def _binds(node: ast.AST) -> list[str]:
    name: str | None = None
    match node:
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [alias.asname or alias.name.partition(".")[0] for alias in aliases]
        case ast.Name(ctx=ast.Store() | ast.Del()):
            name = node.id
        case ast.MatchMapping():
            name = node.rest
        case (
            ast.FunctionDef()
            | ast.AsyncFunctionDef()
            | ast.ClassDef()
            | ast.ExceptHandler()
            | ast.MatchAs()
            | ast.MatchStar()
        ):
            name = node.name
    return [] if name is None else [name]
