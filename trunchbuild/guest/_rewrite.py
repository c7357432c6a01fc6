"""Changes in the author's syntax tree that keep positions: sets become ours, `.format` is looked at first."""

import _ast
import sys

MAKE_SET = "<set>"
ADOPT = "<adopt>"
GUARD_FORMAT = "<format>"
"""Names that no source text can spell."""

_SET_OPERATORS = (_ast.BitOr, _ast.BitAnd, _ast.BitXor, _ast.Sub)


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


def _assignment(node):
    if not isinstance(node.op, _SET_OPERATORS) or not isinstance(node.target, _ast.Name):
        return node
    name = node.target.id
    value = _call(ADOPT, _like(_ast.Name(name, _ast.Load()), node), node)
    return [node, _like(_ast.Assign([_like(_ast.Name(name, _ast.Store()), node)], value), node)]


def _attribute(node):
    if node.attr in ("format", "format_map") and isinstance(node.ctx, _ast.Load):
        node.value = _call(GUARD_FORMAT, node.value, node.value)
    return node


_CHANGES = {
    _ast.Set: _set_display,
    _ast.SetComp: _set_comprehension,
    _ast.BinOp: _operation,
    _ast.AugAssign: _assignment,
    _ast.Attribute: _attribute,
}
