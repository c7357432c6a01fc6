"""Changes in the author's syntax tree that keep positions.

Sets become ours; `.format` and class patterns are looked at first; who catches every error is asked whether memory ran
out.
"""

import _ast
import sys

MAKE_SET = "<set>"
ADOPT = "<adopt>"
ADOPTING = "<adopting>"
GUARD_FORMAT = "<format>"
GUARD_PATTERN = "<pattern>"
CAUGHT = "<caught>"
"""Names that no source text can spell."""

_OWNER, _KEY, _VALUE = "<owner>", "<key>", "<value>"
"""Variables that no source text can spell."""

_SET_OPERATORS = (_ast.BitOr, _ast.BitAnd, _ast.BitXor, _ast.Sub)
_SET_METHODS = frozenset(f"__{side}{name}__" for side in ("", "r", "i") for name in ("or", "and", "xor", "sub"))


def rewritten(text, filename):
    """Parse a module and return its changed tree, ready to compile."""
    tree = compile(text, filename, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    limit = sys.getrecursionlimit()
    # Long chains of operators are deep trees; a frame of this recursion needs no C stack.
    sys.setrecursionlimit(limit * 10)
    try:
        return _visit(tree)
    finally:
        sys.setrecursionlimit(limit)


def is_never_run(node):
    """Whether a statement is `if __name__ == "__main__":` or `if TYPE_CHECKING:`.

    The host does not look into these blocks, so here they are taken out: nobody can make them run after all.
    """
    if type(node) is not _ast.If or node.orelse:
        return False
    test = node.test
    if type(test) is _ast.Compare:
        left, right = test.left, test.comparators[0]
        return (
            getattr(left, "id", None) == "__name__"
            and type(test.ops[0]) is _ast.Eq
            and getattr(right, "value", None) == "__main__"
        )
    return getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"


def _visit(node):
    """Rewrite the children first, then the node."""
    if is_never_run(node):
        return _like(_ast.Pass(), node)
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            changed = []
            for item in value:
                new = _visit(item) if isinstance(item, _ast.AST) else item
                changed += new if isinstance(new, list) else [new]
            setattr(node, field, changed)
        elif isinstance(value, _ast.AST):
            setattr(node, field, _visit(value))
    change = _CHANGES.get(type(node))
    return change(node) if change else node


def _call(name, argument, like):
    function = _like(_ast.Name(name, _ast.Load()), like)
    return _like(_ast.Call(function, [argument], []), like)


def _like(node, other):
    node.lineno, node.col_offset = other.lineno, other.col_offset
    node.end_lineno, node.end_col_offset = other.end_lineno, other.end_col_offset
    return node


def _set_display(node):
    return _call(MAKE_SET, _like(_ast.List(node.elts, _ast.Load()), node), node)


def _set_comprehension(node):
    return _call(MAKE_SET, _like(_ast.GeneratorExp(node.elt, node.generators), node), node)


def _operation(node):
    # Views of dicts give plain sets: `a.keys() & b.keys()`.
    return _call(ADOPT, node, node) if isinstance(node.op, _SET_OPERATORS) else node


def _name(name, context, like):
    return _like(_ast.Name(name, context), like)


def _store(name, value, like):
    return _like(_ast.Assign([_name(name, _ast.Store(), like)], value), like)


def _assignment(node):
    """`a.b |= c` in parts, each evaluated once and in the same order, so that the result can be adopted."""
    target = node.target
    if not isinstance(node.op, _SET_OPERATORS) or isinstance(getattr(target, "slice", None), _ast.Slice):
        return node
    if isinstance(target, _ast.Name):
        return [node, _store(target.id, _call(ADOPT, _name(target.id, _ast.Load(), node), node), node)]
    statements = [_store(_OWNER, target.value, node)]
    if isinstance(target, _ast.Subscript):
        statements.append(_store(_KEY, target.slice, node))

    def part(context):
        owner = _name(_OWNER, _ast.Load(), target)
        if isinstance(target, _ast.Attribute):
            return _like(_ast.Attribute(owner, target.attr, context), target)
        return _like(_ast.Subscript(owner, _name(_KEY, _ast.Load(), target), context), target)

    statements.append(_store(_VALUE, part(_ast.Load()), target))
    node.target = _name(_VALUE, _ast.Store(), node)
    adopted = _call(ADOPT, _name(_VALUE, _ast.Load(), node), node)
    return [*statements, node, _like(_ast.Assign([part(_ast.Store())], adopted), node)]


def _attribute(node):
    if not isinstance(node.ctx, _ast.Load):
        return node
    if node.attr in ("format", "format_map"):
        node.value = _call(GUARD_FORMAT, node.value, node.value)
    return _call(ADOPTING, node, node) if node.attr in _SET_METHODS else node


def _membership(node):
    """`x in {"a", "b"}` stays as it was: such a set is a constant, and its order never shows."""
    for position, (operator, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        if type(operator) in (_ast.In, _ast.NotIn) and type(right) is _ast.Call and type(right.func) is _ast.Name:
            elements = right.args[0].elts if right.func.id == MAKE_SET and type(right.args[0]) is _ast.List else ()
            if elements and all(type(element) is _ast.Constant for element in elements):
                node.comparators[position] = _like(_ast.Set(elements), right)
    return node


def _match(node):
    """`case C(x)` reads the attributes that `C.__match_args__` names: they are looked at before."""
    guards = [_guard(pattern.cls) for case in node.cases for pattern in _class_patterns(case.pattern)]
    return [*guards, node] if guards else node


def _class_patterns(pattern):
    """The class patterns with positional parts inside a pattern."""
    found = [pattern] if type(pattern) is _ast.MatchClass and pattern.patterns else []
    inner = [*getattr(pattern, "patterns", ()), *getattr(pattern, "kwd_patterns", ())]
    for part in [*inner, getattr(pattern, "pattern", None)]:
        if part is not None:
            found += _class_patterns(part)
    return found


def _guard(kind):
    # The class may not be there, where an earlier case matches. What the guard refuses stays refused.
    call = _like(_ast.Expr(_call(GUARD_PATTERN, kind, kind)), kind)
    handler = _like(_ast.ExceptHandler(None, None, [_like(_ast.Pass(), kind)]), kind)
    return _like(_ast.Try([call], [handler], [], []), kind)


def _handler(node):
    call = _like(_ast.Call(_name(CAUGHT, _ast.Load(), node), [], []), node)
    node.body.insert(0, _like(_ast.Expr(call), node))
    return node


_CHANGES = {
    _ast.Set: _set_display,
    _ast.SetComp: _set_comprehension,
    _ast.BinOp: _operation,
    _ast.AugAssign: _assignment,
    _ast.Attribute: _attribute,
    _ast.Compare: _membership,
    _ast.Match: _match,
    _ast.ExceptHandler: _handler,
}
