"""Which names a syntax tree declares where: `const process = ...` makes `process` an ordinary variable in its scope.

Scopes follow ECMA-262 (var and function parameters to the function, let, const, class and functions to their block).
They are computed only where somebody asks: most modules never name anything that is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_FUNCTIONS = {
    *("FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"),
    *("AsyncFunctionDeclaration", "AsyncFunctionExpression", "AsyncArrowFunctionExpression"),
}
_CLASSES = {"ClassDeclaration", "ClassExpression"}
_LOOPS = {"ForStatement", "ForInStatement", "ForOfStatement", "ForAwaitStatement"}
_SCOPES = {*_FUNCTIONS, *_CLASSES, *_LOOPS, "BlockStatement", "StaticBlock", "SwitchStatement", "CatchClause"}
_KEYED = {"Property", "MethodDefinition", "PropertyDefinition", "FieldDefinition", "ClassProperty"}
_NAMING = {
    *("LabeledStatement", "BreakStatement", "ContinueStatement", "MetaProperty", "ImportAttribute"),
    *("ImportSpecifier", "ImportDefaultSpecifier", "ImportNamespaceSpecifier", "ExportAllDeclaration"),
}
_EXPORTS = {"ExportNamedDeclaration", "ExportDefaultDeclaration"}
_REST = {"RestElement", "SpreadElement"}
_HOLDS_NO_STATEMENTS = {"ExpressionStatement", "ReturnStatement", "ThrowStatement"}
_NO_CHILDREN = {"type", "range", "loc", "start", "end", "raw", "regex", "name", "operator", "kind", "value_", "parent"}


class Scopes:
    """Walks a module and answers questions about the node that the walk stands at."""

    def __init__(self, body: Sequence[Any]) -> None:
        self._body = body
        self._module = _lexical(body) | _hoisted(body)
        self._chain: list[Any] = []
        self._names: dict[int, frozenset[str]] = {}
        self._current: Any = None

    def walk(self) -> Iterator[Any]:
        """Every node, parents first, in source order; the other methods speak of the one that was given last."""
        # (node, depth of its chain); an explicit stack, since text of strangers may nest deeply.
        waiting: list[tuple[Any, int]] = [(node, 0) for node in reversed(self._body)]
        while waiting:
            node, depth = waiting.pop()
            del self._chain[depth:]
            self._current = node
            yield node
            self._chain.append(node)
            waiting.extend((child, depth + 1) for child in reversed(list(children(node))))

    def is_declared(self, name: str) -> bool:
        """Whether a scope around the current node declares the name."""
        return name in self._module or self._declared_inside(name)

    def is_module_level(self, name: str) -> bool:
        """Whether the name means the module's own binding here, not an inner one."""
        return name in self._module and not self._declared_inside(name)

    def is_typeof_operand(self, node: Any) -> bool:
        """Whether the current node is what `typeof` asks about: feature detection reads nothing."""
        at = len(self._chain) - 1
        while at >= 0 and self._chain[at].type == "ChainExpression":
            node = self._chain[at]
            at -= 1
        parent = self._chain[at] if at >= 0 else None
        return (
            parent is not None
            and parent.type == "UnaryExpression"
            and parent.operator == "typeof"
            and parent.argument is node
        )

    def is_reference(self, node: Any) -> bool:
        """Whether the current identifier reads or writes a variable, rather than naming a member or a label."""
        parent = self._chain[-1] if self._chain else None
        if parent is None:
            return True
        if parent.type == "MemberExpression":
            return node is not parent.property or bool(parent.computed)
        if parent.type in _KEYED:
            return node is not parent.key or bool(parent.computed)
        if parent.type == "ExportSpecifier":
            # `export { process } from "./x"` names the other module's export.
            return node is parent.local and self._chain[-2].source is None
        return parent.type not in _NAMING and not self.is_typeof_operand(node)

    def _declared_inside(self, name: str) -> bool:
        below = self._current
        for node in reversed(self._chain):
            if node.type in _SCOPES and name in self._declared(node, below):
                return True
            below = node
        return False

    def _declared(self, node: Any, below: Any) -> frozenset[str]:
        """What the scope `node` declares for its part `below`."""
        if node.type == "SwitchStatement" and below is node.discriminant:
            return frozenset()
        if node.type in _FUNCTIONS and below is not node.body:
            # Defaults of parameters do not see the variables of the body (ECMA-262, FunctionDeclarationInstantiation).
            return frozenset(_parameters(node))
        if id(node) not in self._names:
            self._names[id(node)] = frozenset(_declares(node))
        return self._names[id(node)]

    @staticmethod
    def declared_by(statement: Any) -> set[str]:
        """The names of one declaration: `const a = 1, { b } = c`, a function, a class."""
        return _lexical([statement]) | _hoisted([statement])


def children(node: Any) -> Iterator[Any]:
    """The nodes directly below, in source order."""
    for key, value in vars(node).items():
        if key in _NO_CHILDREN or value is None:
            continue
        if isinstance(value, list):
            for inner in value:
                if getattr(inner, "type", None).__class__ is str:
                    yield inner
        elif getattr(value, "type", None).__class__ is str:
            yield value


def name_of_key(node: Any, *, computed: bool) -> str | None:
    """The name behind `.random`, `["random"]` or `` [`random`] ``; None where it is known only while running."""
    if node.type == "Identifier":
        return None if computed else str(node.name)
    if node.type == "Literal" and isinstance(node.value, str):
        return node.value
    if node.type == "TemplateLiteral" and not node.expressions:
        cooked = node.quasis[0].value
        return str(cooked["cooked"] if isinstance(cooked, dict) else cooked.cooked)
    return None


def _declares(node: Any) -> set[str]:
    if node.type in _FUNCTIONS:
        return _function_declares(node)
    if node.type in _CLASSES:
        return {node.id.name} if node.id is not None else set()
    if node.type in _LOOPS:
        head = node.init if node.type == "ForStatement" else node.left
        return _lexical([head] if head is not None else [])
    if node.type == "CatchClause":
        return set(_pattern(node.param)) if node.param is not None else set()
    if node.type == "SwitchStatement":
        return _lexical([statement for case in node.cases for statement in case.consequent])
    body = node.body if isinstance(node.body, list) else node.body.body
    return _lexical(body) | (_hoisted(body) if node.type == "StaticBlock" else set())


def _function_declares(node: Any) -> set[str]:
    return _parameters(node) | _hoisted(node.body.body if node.body.type == "BlockStatement" else [])


def _parameters(node: Any) -> set[str]:
    """What a function's head declares."""
    names = {name for parameter in node.params for name in _pattern(parameter)} | {"arguments"}
    if node.id is not None:
        names.add(node.id.name)
    return names


def _lexical(statements: Iterable[Any]) -> set[str]:
    """Names of let, const, class, function and import directly in a list of statements."""
    names: set[str] = set()
    for outer in statements:
        statement = outer
        if (
            statement.type in {"ExportNamedDeclaration", "ExportDefaultDeclaration"}
            and statement.declaration is not None
        ):
            statement = statement.declaration
        if statement.type == "VariableDeclaration":
            if statement.kind != "var":
                names.update(name for one in statement.declarations for name in _pattern(one.id))
        elif statement.type in {*_FUNCTIONS, *_CLASSES}:
            if statement.id is not None:
                names.add(statement.id.name)
        elif statement.type == "ImportDeclaration":
            names.update(specifier.local.name for specifier in statement.specifiers)
    return names


def _hoisted(statements: Iterable[Any]) -> set[str]:
    """Names of `var` anywhere below that belong to the function around."""
    names: set[str] = set()
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        if node.type in _FUNCTIONS or node.type in _CLASSES:
            continue
        if node.type == "VariableDeclaration" and node.kind == "var":
            names.update(name for one in node.declarations for name in _pattern(one.id))
        elif _may_hold_statements(node.type):
            waiting.extend(children(node))
    return names


def _may_hold_statements(kind: str) -> bool:
    if kind in {"SwitchCase", "CatchClause", "ExportNamedDeclaration"}:
        return True
    return kind.endswith("Statement") and kind not in _HOLDS_NO_STATEMENTS


def _pattern(node: Any) -> Iterator[str]:
    """The names that a binding pattern binds."""
    match node.type:
        case "Identifier":
            yield node.name
        case "ObjectPattern":
            for member in node.properties:
                yield from _pattern(member.argument if member.type in _REST else member.value)
        case "ArrayPattern":
            for element in node.elements:
                if element is not None:
                    yield from _pattern(element)
        case "AssignmentPattern":
            yield from _pattern(node.left)
        case kind if kind in _REST:
            yield from _pattern(node.argument)
