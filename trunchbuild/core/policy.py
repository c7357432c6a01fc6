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
from trunchbuild.core.places import LINE_END, Places
from trunchbuild.core.refused_globals import Reason
from trunchbuild.core.resolve import TYPESCRIPT
from trunchbuild.core.survey import Finding, Import, Survey, broken, excerpt
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


def survey_module(path: str, text: str, source: str | None = None) -> Survey:
    """Read one module; `source` is the author's text where `text`, what runs, is another one.

    Raises:
        Unreadable: esprima2 cannot read it; `unreadable` or `survey_tree` go on from there.
    """
    tree = parse_module(text)
    try:
        return survey_tree(path, tree, source)
    except (AttributeError, TypeError, ValueError, IndexError, KeyError):
        # Of some broken text (`export d;`) esprima2 gives a tree with holes; the other parser says what is wrong.
        raise Unreadable("cannot be read", 0) from None


def survey_tree(path: str, tree: Tree, source: str | None = None) -> Survey:
    """Read one parsed module; `source` as for `survey_module`."""
    reader = _Reader(path, tree, Places(tree.text, source))
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
        frozenset(reader.asked),
    )


def unreadable(path: str, source: str, message: str, line: int, column: int) -> Survey:
    """What a module that no parser can read is: one finding. `line` and `column` are those of the author's `source`."""
    lines = LINE_END.split(source)
    written = lines[line - 1] if line <= len(lines) else ""
    return Survey(
        source,
        findings=(
            broken(
                path,
                f"syntax error: {message}",
                code="syntax",
                place=f"{line}:{column}",
                expected="TypeScript" if path.endswith(TYPESCRIPT) else "JavaScript",
                got=excerpt(written, column),
                hint=_hint_of_syntax(written, column),
            ),
        ),
    )


def nested_too_deeply(path: str, source: str) -> Survey:
    """A module whose nesting no parser can follow."""
    hint = "put data into a source or a .json file; divide long chains of operators and calls"
    return Survey(source, findings=(broken(path, "nested too deeply to be read", code="too-deep", hint=hint),))


def _hint_of_syntax(line: str, column: int) -> str | None:
    """What the author may have meant by a line that no parser reads."""
    if line[column - 1 : column] == "@":
        return "decorators are not part of JavaScript yet; use plain functions"
    line = line[max(0, column - _NEAR) : column + _NEAR]
    return next((hint for pattern, hint in _NOT_JAVASCRIPT.items() if pattern.search(line)), None)


_NEAR = 200
_NOT_JAVASCRIPT = {
    re.compile(r"\baccessor\s+[\w$#\[]"): "`accessor` fields are not part of JavaScript yet; write `get` and `set`",
    re.compile(r"</[A-Za-z]*[\w.]*>|<[A-Za-z][^<>]*/>"): "JSX is not available to benchmark modules; build strings",
    re.compile(r"['\"]\s*assert\s*\{"): 'import attributes are written `with { type: "json" }`',
}


class _Reader:
    """Collects what one module says."""

    def __init__(self, path: str, tree: Tree, places: Places) -> None:
        self.path = path
        self.places = places
        self.tree = tree
        self.imports: list[Import] = []
        self.exports: set[str] = set()
        self.star_exports: list[str] = []
        self.findings: list[Finding] = []
        self.import_words = 0
        self.asked: set[str] = set()
        self._crypto_names: set[str] = set()
        self._refused: set[tuple[str, str]] = set()

    def place(self, node: Any) -> str:
        line, column = (
            self.places.of_unit(int(node.start)) if self.tree.utf16 else self.places.of_character(int(node.range[0]))
        )
        return f"{line}:{column}"

    def refuse(self, node: Any, what: str, reason: Reason) -> None:
        place = f"{self.path}:{self.place(node)}"
        if (place, what) not in self._refused:
            self._refused.add((place, what))
            fault = Fault(place, f"{what} {_NOT_AVAILABLE}", hint=reason.hint, code=reason.code)
            self.findings.append(Finding(fault, refused=True))

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
            found = broken(
                self.path,
                message,
                code="import-attribute",
                place=self.place(attribute.key),
                hint='there is only `type: "json"`',
            )
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
            self._note_crypto(statement)
        if statement.declaration is not None:
            self.exports.update(Scopes.declared_by(statement.declaration))

    def _note_crypto(self, statement: Any) -> None:
        if statement.source.value not in {"crypto", "node:crypto"}:
            return
        for specifier in statement.specifiers or ():
            is_export = specifier.type == "ExportSpecifier"
            imported = (_module_name(specifier.local), "") if is_export else self._imported(specifier)
            if not is_export and (imported is None or imported[0] == "default"):
                self._crypto_names.add(specifier.local.name)
            elif imported is not None and imported[0] in refused_globals.CRYPTO_RANDOM:
                self.refuse(specifier, f"`{imported[0]}` of node:crypto", refused_globals.CRYPTO_RANDOM_WHY)

    # ---- uses ----

    def uses(self) -> None:
        """Walk the whole tree and refuse what is not available."""
        looks: Mapping[str, Callable[[Any, Scopes], None]] = {
            "Identifier": self._identifier,
            "MemberExpression": self._member,
            "CallExpression": self._call,
            "NewExpression": self._new,
            "TaggedTemplateExpression": lambda node, scopes: self._called(node, node.tag, scopes),
            "AssignmentPattern": lambda node, scopes: self._taken_apart(node.left, node.right, scopes),
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
        if owner in _GLOBAL_OBJECT:
            if key not in refused_globals.GLOBALS:
                return
            if scopes.is_typeof_operand(node):
                self.asked.add(key)
            else:
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
        self._called(node, node.callee, scopes)

    def _called(self, node: Any, callee: Any, scopes: Scopes) -> None:
        name = _global_name(callee, scopes)
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
        self._taken_from(pattern, _global_name(value, scopes))

    def _taken_from(self, pattern: Any, owner: str | None) -> None:
        waiting = [(pattern, owner)]
        while waiting:
            inner, owner = waiting.pop()
            for member in inner.properties if owner is not None else ():
                key = name_of_key(member.key, computed=member.computed) if member.type == "Property" else None
                if key is None:
                    continue
                is_global = owner in _GLOBAL_OBJECT
                if (owner, key) in refused_globals.MEMBERS:
                    self.refuse(member, f"{owner}.{key}()", refused_globals.MEMBERS[owner or "", key])
                elif is_global and key in refused_globals.GLOBALS:
                    self.refuse(member, f"`{key}`", refused_globals.GLOBALS[key])
                elif is_global:
                    target = member.value.left if member.value.type == "AssignmentPattern" else member.value
                    if target.type == "ObjectPattern":
                        waiting.append((target, key))


_GLOBAL_OBJECT = frozenset({"globalThis", "global"})


def _module_name(node: Any) -> str:
    return str(node.name if node.type == "Identifier" else node.value)


def _global_name(node: Any, scopes: Scopes) -> str | None:
    """The name of a global that an expression means: `Math`, `globalThis.Math`, `(Math)`."""
    while node.type == "ChainExpression":
        node = node.expression
    if node.type == "Identifier":
        return None if scopes.is_declared(node.name) else str(node.name)
    if node.type != "MemberExpression":
        return None
    # A loop: a chain of members may be longer than Python's stack is deep.
    owner = node.object
    while owner.type == "ChainExpression" or (
        owner.type == "MemberExpression" and name_of_key(owner.property, computed=owner.computed) == "globalThis"
    ):
        owner = owner.expression if owner.type == "ChainExpression" else owner.object
    if owner.type != "Identifier" or owner.name != "globalThis" or scopes.is_declared("globalThis"):
        return None
    return name_of_key(node.property, computed=node.computed)
