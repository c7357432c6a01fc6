"""Sets whose order is never the same in the two runs.

Python leaves the order of a set open; it follows from hashes, which differ between processes for text, and from where
objects lie. Two seeds alone would miss every second set of two elements. So the author's sets are these classes: the
first run iterates over them in ascending order of their contents, the second in descending order. What comes out alike
does not depend on the order.
"""

import sys

DESCENDING = False
"""Set by `run.py` for the second run."""

AUTHOR_FILES = frozenset()
"""File names of the author's modules, for places."""

iterations = {}
"""Places where the author's code took elements out of a set of several, in the order of their first use."""

_MAX_PLACES = 20
_MAX_DEPTH = 6
_NUMBERS = {int, bool}
_TEXT = {str}


def author_place():
    """`file:line` of the innermost frame of the author's code."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename in AUTHOR_FILES:
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def in_order(items, note=True):
    """The elements as this run shows them."""
    if len(items) < 2:
        return items
    kinds = set(map(type, items))
    if kinds == _TEXT or kinds <= _NUMBERS:
        items.sort()
    else:
        items.sort(key=_rank)
    if DESCENDING:
        items.reverse()
    if note and len(iterations) < _MAX_PLACES:
        iterations.setdefault(author_place())
    return items


def _rank(value, depth=0):
    """A key by contents that compares with the key of any other value; the address of a value is not part of it."""
    if value is None:
        return (0,)
    if isinstance(value, (int, float)):
        return (1, value != value, 0 if value != value else value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, bytes):
        return (3, value)
    if depth >= _MAX_DEPTH:
        return (9,)
    if isinstance(value, tuple):
        return (4, [_rank(item, depth + 1) for item in value])
    if isinstance(value, frozenset):
        return (5, sorted(_rank(item, depth + 1) for item in frozenset.__iter__(value)))
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return (6, str(getattr(value, "__module__", "")), value.__qualname__)
    kind = type(value)
    if kind.__repr__ is not object.__repr__ and not hasattr(value, "__dict__"):
        return (7, kind.__qualname__, repr(value))
    return (8, kind.__qualname__, [(name, _rank(item, depth + 1)) for name, item in sorted(_members(value).items())])


def _members(value):
    members = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                members[name] = getattr(value, name)
    return {name: item for name, item in members.items() if isinstance(name, str)}


class Set(set):
    """What the author knows as `set`."""

    __slots__ = ()

    def __iter__(self):
        return iter(in_order(list(set.__iter__(self))))

    def __repr__(self):
        inside = ", ".join(map(repr, in_order(list(set.__iter__(self)))))
        name = "set" if type(self) is Set else type(self).__name__
        if not inside:
            return f"{name}()"
        return f"{{{inside}}}" if type(self) is Set else f"{name}({{{inside}}})"

    def pop(self):
        """Take out the element that comes first in this run."""
        items = list(set.__iter__(self))
        if not items:
            raise KeyError("pop from an empty set")
        first = in_order(items)[0]
        self.discard(first)
        return first


class FrozenSet(frozenset):
    """What the author knows as `frozenset`."""

    __slots__ = ()

    def __iter__(self):
        return iter(in_order(list(frozenset.__iter__(self))))

    def __repr__(self):
        inside = ", ".join(map(repr, in_order(list(frozenset.__iter__(self)))))
        return f"frozenset({{{inside}}})" if inside else "frozenset()"


def _keeping_kind(base, own, name):
    real = getattr(base, name)

    def method(self, *others):
        result = real(self, *others)
        return own(result) if type(result) is base else adopt(result)

    method.__name__ = name
    return method


def adopt(value):
    """A plain set that the language or the library made, as one of ours; anything else unchanged."""
    kind = type(value)
    if kind is set:
        return Set(value)
    if kind is frozenset:
        return FrozenSet(value)
    return value


def adopt_deep(value):
    """As `adopt`, inside lists, tuples and dicts too."""
    if type(value) is list:
        return [adopt_deep(item) for item in value]
    if type(value) is tuple:
        return tuple(adopt_deep(item) for item in value)
    if type(value) is dict:
        return {adopt_deep(key): adopt_deep(item) for key, item in value.items()}
    if type(value) in (set, frozenset):
        return adopt(type(value)(adopt_deep(item) for item in value))
    return value


for _base, _own in ((set, Set), (frozenset, FrozenSet)):
    for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
        setattr(_own, _name, _keeping_kind(_base, _own, _name))
    for _name in ("or", "and", "sub", "xor"):
        for _side in ("__", "__r"):
            setattr(_own, f"{_side}{_name}__", _keeping_kind(_base, _own, f"{_side}{_name}__"))


def sorted_(iterable, /, *, key=None, reverse=False):
    """`sorted`: a set loses its order here, so its place is not noted; elements with equal keys still show it."""
    if isinstance(iterable, (set, frozenset)):
        base = set if isinstance(iterable, set) else frozenset
        iterable = in_order(list(base.__iter__(iterable)), note=key is not None)
    return sorted(iterable, key=key, reverse=reverse)


sorted_.__name__ = sorted_.__qualname__ = "sorted"
Set.__name__ = Set.__qualname__ = "set"
FrozenSet.__name__ = FrozenSet.__qualname__ = "frozenset"
Set.__module__ = FrozenSet.__module__ = "builtins"
