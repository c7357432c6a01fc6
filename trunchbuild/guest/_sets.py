"""Sets whose order is never the same in two runs.

Python leaves the order of a set open; it follows from hashes, which differ between processes for text, and from where
objects lie. Two seeds alone would miss every second set of two elements. So the author's sets are these classes: the
first run iterates over them in ascending order of their contents, the second in descending order. That leaves the
middle of three in its place: where elements were taken out of so many, a third run takes turns from both ends.
What comes out alike does not depend on the order.
"""

import sys

ASCENDING, DESCENDING, FROM_BOTH_ENDS = range(3)

order = ASCENDING
"""Set by `run.py` for the other runs."""

sizes = {0}
"""How many elements the sets had out of which the author's code took some."""

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
    count = len(items)
    if count < 2:
        return items
    kinds = set(map(type, items))
    if kinds == _TEXT or kinds <= _NUMBERS:
        items.sort(reverse=order == DESCENDING)
    else:
        # Where contents are alike, addresses decide: `run.stir` lets them fall in the second run.
        items.sort(key=id)
        items.sort(key=_rank_of, reverse=order == DESCENDING)
    if order == FROM_BOTH_ENDS:
        items[::2], items[1::2] = items[: (count + 1) // 2], items[: (count + 1) // 2 - 1 : -1]
    if note:
        sizes.add(count)
        if len(iterations) < _MAX_PLACES:
            iterations.setdefault(author_place())
    return items


def _rank_of(value):
    try:
        return _rank(value)
    except Exception:
        # Classes of authors may do anything when they are looked at.
        return (9,)


def _rank(value, depth=0):
    """A key by contents that compares with the key of any other value; the address of a value is not part of it.

    Values of subclasses are read as what they are made of: their own comparisons may do anything.
    """
    if value is None:
        return (0,)
    if isinstance(value, int):
        return (1, False, int.__int__(value))
    if isinstance(value, float):
        number = float.__float__(value)
        return (1, number != number, 0 if number != number else number)
    if isinstance(value, str):
        return (2, str.__str__(value))
    if isinstance(value, bytes):
        return (3, bytes.__getitem__(value, slice(None)))
    if depth >= _MAX_DEPTH:
        return (9,)
    if isinstance(value, tuple):
        return (4, [_rank(item, depth + 1) for item in tuple.__iter__(value)])
    if isinstance(value, frozenset):
        return (5, sorted(_rank(item, depth + 1) for item in frozenset.__iter__(value)))
    kind = type(value)
    if isinstance(value, type) or kind in _FUNCTIONS:
        return (6, str(getattr(value, "__module__", "")), value.__qualname__)
    if kind is _METHOD:
        return (10, value.__func__.__qualname__, _rank(value.__self__, depth + 1))
    name, module = kind.__qualname__, kind.__module__
    if module.startswith("repository.") or hasattr(value, "__dict__"):
        return (8, name, [(member, _rank(item, depth + 1)) for member, item in sorted(_members(value).items())])
    text = repr(value)
    return (7, name, "" if " at 0x" in text else text)


_FUNCTIONS = (type(in_order), type(len), type(str.join), type(str.__add__), type("".__add__))


def _members(value):
    """What an instance holds, past its own `__getattr__`."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        found = {}
    members = dict(found)
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            try:
                members[name] = object.__getattribute__(value, name)
            except AttributeError:
                continue
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
        name = type(self).__name__
        return f"{name}({{{inside}}})" if inside else f"{name}()"


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


def adopting(method):
    """A method such as `keys.__and__`, read by its name, whose result is adopted."""

    def adopted(*arguments):
        return adopt(method(*arguments))

    adopted.__name__ = adopted.__qualname__ = getattr(method, "__name__", "")
    return adopted


def adopt_class(kind):
    """Python's own `set`, which the library may name, as ours."""
    return {set: Set, frozenset: FrozenSet}.get(kind, kind) if isinstance(kind, type) else kind


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


_METHOD = type(Set().pop)

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
