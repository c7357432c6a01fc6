"""Static findings in a module's syntax tree: what it imports and exports, and what it uses that is not available.

The sandbox is the wall; this is for messages: every use at once, with its place, before anything runs. What escapes the
eye here (a computed name, an alias) is refused again while running.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from trunchbuild.core import refused_globals
from trunchbuild.core.javascript_parser import Tree, Unreadable, parse_module
from trunchbuild.core.module_scopes import Scopes, name_of_key
from trunchbuild.core.source_map import original_position
from trunchbuild.core.survey import Finding, Import, Survey, broken
from trunchbuild.errors import Fault

_NOT_AVAILABLE = "is not available to benchmark modules"

# Texts without any of these words hold nothing but imports and exports to look at. An escape in an identifier
# (`\u0065val`) hides a word, so a backslash-u sends the text the long way.
_WORDS = re.compile(
    r"\\u|\b(?:"
    + "|".join({*refused_globals.GLOBALS, "Function", "random", "now", "Date", "globalThis", "global"})
    + r")\b"
)
_IMPORT = re.compile(r"\bimport\b")


def survey_module(path: str, text: str) -> Survey:
    """Read one module.

    Raises:
        Unreadable: esprima2 cannot read it; `unreadable` or `survey_tree` go on from there.
    """
    tree = parse_module(text)
    try:
        return survey_tree(path, tree)
    except (AttributeError, TypeError, ValueError, IndexError, KeyError):
        # Of some broken text (`export d;`) esprima2 gives a tree with holes; the other parser says what is wrong.
        raise Unreadable("cannot be read", 0) from None


def survey_tree(path: str, tree: Tree) -> Survey:
    """Read one parsed module."""
    reader = _Reader(path, tree)
    for statement in tree.body:
        reader.top_level(statement)
    text = tree.text
    if _WORDS.search(text) or len(_IMPORT.findall(text)) != reader.import_words:
        reader.uses()
    return Survey(
        text,
        tuple(reader.imports),
        frozenset(reader.exports),
        tuple(reader.star_exports),
        tuple(reader.findings),
    )


def unreadable(path: str, text: str, message: str, line: int, column: int) -> Survey:
    """What a module that no parser can read is: one finding. `line` and `column` count from 1 in `text`."""
    lines = text.split("\n")
    hint = _hint_of_syntax(lines[line - 1], column) if line <= len(lines) else None
    line, column = original_position(text, line, column)
    return Survey(text, findings=(broken(path, f"syntax error: {message}", place=f"{line}:{column}", hint=hint),))


def _hint_of_syntax(line: str, column: int) -> str | None:
    """What the author may have meant by a line that no parser reads."""
    if line[column - 1 : column] == "@":
        return "decorators are not part of JavaScript yet; use plain functions"
    return next((hint for pattern, hint in _NOT_JAVASCRIPT.items() if pattern.search(line)), None)


_NOT_JAVASCRIPT = {
    re.compile(r"\baccessor\s+[\w$#\[]"): "`accessor` fields are not part of JavaScript yet; write `get` and `set`",
    re.compile(r"</[A-Za-z]*[\w.]*>|<[A-Za-z][^<>]*/>"): "JSX is not available to benchmark modules; build strings",
    re.compile(r"['\"]\s*assert\s*\{"): 'import attributes are written `with { type: "json" }`',
}


def position_of_offset(text: str, offset: int) -> tuple[int, int]:
    """(line, column) from 1 of an offset in code points. Lines end at LF, as editors count them."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


class _Reader:
    """Collects what one module says."""

    def __init__(self, path: str, tree: Tree) -> None:
        self.path = path
        self.tree = tree
        self.imports: list[Import] = []
        self.exports: set[str] = set()
        self.star_exports: list[str] = []
        self.findings: list[Finding] = []
        self.import_words = 0
        self._crypto_names: set[str] = set()

    def place(self, node: Any) -> str:
        line, column = position_of_offset(self.tree.text, self.tree.offset_of(node))
        line, column = original_position(self.tree.text, line, column)
        return f"{line}:{column}"

    def refuse(self, node: Any, what: str, why: str) -> None:
        place = f"{self.path}:{self.place(node)}"
        finding = Finding(Fault(place, f"{what} {_NOT_AVAILABLE}", hint=why), refused=True)
        if finding not in self.findings:
            self.findings.append(finding)

    # ---- imports and exports ----

    def top_level(self, statement: Any) -> None:
        match statement.type:
            case "ImportDeclaration":
                self.import_words += 1
                names = [self._imported(specifier) for specifier in statement.specifiers]
                self._import(statement, [name for name in names if name is not None])
                self._note_crypto(statement)
            case "ExportNamedDeclaration":
                self._export_named(statement)
            case "ExportDefaultDeclaration":
                self.exports.add("default")
            case "ExportAllDeclaration":
                exported = getattr(statement, "exported", None)
                if exported is not None:
                    self.exports.add(_module_name(exported))
                else:
                    self.star_exports.append(statement.source.value)
                self._import(statement, [])

    def _import(self, statement: Any, names: list[tuple[str, str]]) -> None:
        as_json = False
        for attribute in getattr(statement, "attributes", None) or ():
            key, value = _module_name(attribute.key), attribute.value.value
            if (key, value) == ("type", "json"):
                as_json = True
                continue
            message = f'import attribute `{key}: "{value}"`'
            found = broken(self.path, message, place=self.place(attribute.key), hint='there is only `type: "json"`')
            self.findings.append(found)
        self.imports.append(Import(statement.source.value, self.place(statement.source), tuple(names), as_json))

    def _imported(self, specifier: Any) -> tuple[str, str] | None:
        match specifier.type:
            case "ImportDefaultSpecifier":
                return "default", self.place(specifier)
            case "ImportSpecifier":
                return _module_name(specifier.imported), self.place(specifier)
        return None

    def _export_named(self, statement: Any) -> None:
        for specifier in statement.specifiers or ():
            self.exports.add(_module_name(specifier.exported))
        if statement.source is not None:
            names = [(_module_name(one.local), self.place(one)) for one in statement.specifiers or ()]
            self._import(statement, names)
        if statement.declaration is not None:
            self.exports.update(Scopes.declared_by(statement.declaration))

    def _note_crypto(self, statement: Any) -> None:
        if statement.source.value not in {"crypto", "node:crypto"}:
            return
        for specifier in statement.specifiers:
            imported = self._imported(specifier)
            if imported is None or imported[0] == "default":
                self._crypto_names.add(specifier.local.name)
            elif imported[0] in refused_globals.CRYPTO_RANDOM:
                self.refuse(specifier, f"`{imported[0]}` of node:crypto", refused_globals.CRYPTO_RANDOM_WHY)

    # ---- uses ----

    def uses(self) -> None:
        """Walk the whole tree and refuse what is not available."""
        looks: Mapping[str, Callable[[Any, Scopes], None]] = {
            "Identifier": self._identifier,
            "MemberExpression": self._member,
            "CallExpression": self._call,
            "NewExpression": self._new,
            "VariableDeclarator": lambda node, scopes: self._taken_apart(node.id, node.init, scopes),
            "AssignmentExpression": lambda node, scopes: self._taken_apart(node.left, node.right, scopes),
            "ImportExpression": lambda node, _: self.refuse(node, "import()", refused_globals.DYNAMIC_IMPORT),
            "MetaProperty": self._meta,
        }
        scopes = Scopes(self.tree.body)
        for node in scopes.walk():
            look = looks.get(node.type)
            if look is not None:
                look(node, scopes)

    def _meta(self, node: Any, _: Scopes) -> None:
        if node.meta.name == "import":
            self.refuse(node, "import.meta", refused_globals.IMPORT_META)

    def _identifier(self, node: Any, scopes: Scopes) -> None:
        why = refused_globals.GLOBALS.get(node.name)
        if why is not None and scopes.is_reference(node) and not scopes.is_declared(node.name):
            self.refuse(node, f"`{node.name}`", why)

    def _member(self, node: Any, scopes: Scopes) -> None:
        self._crypto_member(node, scopes)
        key = name_of_key(node.property, computed=node.computed)
        owner = _global_name(node.object, scopes)
        if key is None or owner is None:
            return
        if owner in {"globalThis", "global"}:
            if key in refused_globals.GLOBALS and not scopes.is_typeof_operand(node):
                self.refuse(node, f"`{key}`", refused_globals.GLOBALS[key])
        elif (owner, key) in refused_globals.MEMBERS:
            self.refuse(node, f"{owner}.{key}()", refused_globals.MEMBERS[owner, key])

    def _crypto_member(self, node: Any, scopes: Scopes) -> None:
        key = name_of_key(node.property, computed=node.computed)
        name = node.object.name if node.object.type == "Identifier" else None
        if name in self._crypto_names and key in refused_globals.CRYPTO_RANDOM and scopes.is_module_level(name):
            self.refuse(node, f"`{key}` of node:crypto", refused_globals.CRYPTO_RANDOM_WHY)

    def _call(self, node: Any, scopes: Scopes) -> None:
        if node.callee.type == "Import":
            self.refuse(node, "import()", refused_globals.DYNAMIC_IMPORT)
            return
        name = _global_name(node.callee, scopes)
        if name == "Date":
            self.refuse(node, "Date() called as a function", refused_globals.DATE_WITHOUT_ARGUMENTS)
        elif name == "Function":
            self.refuse(node, "Function()", refused_globals.FUNCTION_FROM_STRING)

    def _new(self, node: Any, scopes: Scopes) -> None:
        name = _global_name(node.callee, scopes)
        if name == "Date" and not node.arguments:
            self.refuse(node, "new Date() without arguments", refused_globals.DATE_WITHOUT_ARGUMENTS)
        elif name == "Function":
            self.refuse(node, "new Function()", refused_globals.FUNCTION_FROM_STRING)

    def _taken_apart(self, pattern: Any, value: Any, scopes: Scopes) -> None:
        """`const { random } = Math`."""
        if value is None or pattern.type != "ObjectPattern":
            return
        owner = _global_name(value, scopes)
        for member in pattern.properties:
            key = name_of_key(member.key, computed=member.computed) if member.type == "Property" else None
            if key is None:
                continue
            if (owner, key) in refused_globals.MEMBERS:
                self.refuse(member, f"{owner}.{key}()", refused_globals.MEMBERS[owner or "", key])
            elif owner in {"globalThis", "global"} and key in refused_globals.GLOBALS:
                self.refuse(member, f"`{key}`", refused_globals.GLOBALS[key])


def _module_name(node: Any) -> str:
    return str(node.name if node.type == "Identifier" else node.value)


def _global_name(node: Any, scopes: Scopes) -> str | None:
    """The name of a global that an expression means: `Math`, `globalThis.Math`, `(Math)`."""
    if node.type == "Identifier":
        return None if scopes.is_declared(node.name) else str(node.name)
    if node.type != "MemberExpression":
        return None
    # A loop: a chain of members may be longer than Python's stack is deep.
    owner = node.object
    while owner.type == "MemberExpression" and name_of_key(owner.property, computed=owner.computed) == "globalThis":
        owner = owner.object
    if owner.type != "Identifier" or owner.name != "globalThis" or scopes.is_declared("globalThis"):
        return None
    return name_of_key(node.property, computed=node.computed)
