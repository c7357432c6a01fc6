"""Writes the author's result as `JSON.stringify` would, and refuses what JSON cannot hold, with JSON pointers."""

import sys
from _json import encode_basestring

MAX_DEPTH = 64
MAX_FAULTS = 50

_SAFE = 2**53 - 1
name_of = type.__dict__["__name__"].__get__
"""Reads a class's name past what its metaclass says."""

_LAST_INDEX = 2**32 - 2


class Writer:
    """Collects faults instead of stopping at the first."""

    def __init__(self, entry):
        """`entry` is the transformer's file, for places."""
        self.faults = []
        self._entry = entry
        self._path = []
        self._open = set()

    def line(self, value, index):
        """One case as a JSON line without its end."""
        if type(value) is dict:
            try:
                return _plain_object(value, 1).encode()
            except (_NotPlainError, UnicodeEncodeError):
                # The long way knows every other kind of value, the order of keys, and where a fault stands.
                pass
        self._path.append(index)
        if not isinstance(value, dict):
            self.fault(f"a case is {_named(type(value))}, not a dict")
        text = self._write(value, 1)
        try:
            data = text.encode()
        except UnicodeEncodeError:
            # Rare: look for the string only now.
            self._find_surrogates(value, set())
            data = b""
        self._path.pop()
        return data

    def fault(self, message, hint=None):
        """Note what is wrong at the current path."""
        if len(self.faults) < MAX_FAULTS:
            found = {"place": f"{self._entry} {self._pointer()}", "message": message}
            self.faults.append(found if hint is None else {**found, "hint": hint})
        return "null"

    def _pointer(self):
        return "".join("/" + _part(part).replace("~", "~0").replace("/", "~1") for part in self._path)

    def _write(self, value, depth):
        kind = type(value)
        if kind is str:
            return encode_basestring(value)
        if kind is dict:
            return self._object(value, depth)
        if kind is int:
            return str(value) if -_SAFE <= value <= _SAFE else self._integer(value)
        if value is None:
            return "null"
        if kind is bool:
            return "true" if value else "false"
        if kind is list or kind is tuple:
            return self._array(value, depth)
        if kind is float:
            return self._float(value)
        if kind in _dicts_of_the_library():
            return self._object(value, depth)
        return self._refuse(value, kind)

    def _object(self, value, depth):
        if not self._enter(value, depth):
            return "null"
        parts = []
        for key in _own_keys(value):
            self._path.append(key)
            if type(key) is not str:
                self.fault(f"a key is {_named(type(key))}, not a string", "write str(key) if that is meant")
            elif key == "__proto__":
                self.fault("a key __proto__ is not JSON", "some readers take it for the object's prototype")
            else:
                parts.append(f"{encode_basestring(key)}:{self._write(value[key], depth + 1)}")
            self._path.pop()
        self._open.discard(id(value))
        return "{" + ",".join(parts) + "}"

    def _array(self, value, depth):
        if not self._enter(value, depth):
            return "null"
        parts = []
        for index, item in enumerate(value):
            self._path.append(index)
            parts.append(self._write(item, depth + 1))
            self._path.pop()
        self._open.discard(id(value))
        return "[" + ",".join(parts) + "]"

    def _enter(self, value, depth):
        if id(value) in self._open:
            self.fault("a value contains itself")
            return False
        if depth > MAX_DEPTH:
            self.fault(f"nested deeper than {MAX_DEPTH} levels")
            return False
        self._open.add(id(value))
        return True

    def _integer(self, value):
        """Beyond 2^53: accepted if its double is written with the same digits."""
        try:
            text = number(float(value))
        except OverflowError:
            text = ""
        # Comparing values first: a huge integer has no business being turned into digits.
        if text and abs(value) < 10**21 and text == str(value):
            return text
        return self.fault("an integer that a JSON number (a double) cannot hold exactly", "write it as a string")

    def _float(self, value):
        if value != value or value in (float("inf"), float("-inf")):
            return self.fault(f"{value} is not a JSON number")
        return number(value)

    def _refuse(self, value, kind):
        if isinstance(value, (set, frozenset)):
            return self.fault("a set is not JSON", "write sorted(...), which also gives it an order")
        if isinstance(value, (bytes, bytearray)):
            return self.fault(f"{_named(kind)} is not JSON", "decode it to a string")
        if isinstance(value, tuple):
            return self.fault(f"{_named(kind)} is not JSON", "write value._asdict() or list(value)")
        if isinstance(value, (str, int, float)):
            return self.fault(f"{_named(kind)} is not plain JSON", "write str(value), int(value) or value.value")
        if hasattr(kind, "__dataclass_fields__"):
            return self.fault(f"{_named(kind)} is not JSON", "write dataclasses.asdict(value)")
        return self.fault(f"{_named(kind)} is not JSON")

    def _find_surrogates(self, value, seen):
        if isinstance(value, str):
            if not _encodable(value):
                self.fault("text holds a lone surrogate, which is no character")
            return
        if not isinstance(value, (dict, list, tuple)) or id(value) in seen:
            return
        seen.add(id(value))
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            self._path.append(key if not isinstance(key, str) else key.encode("utf-8", "backslashreplace").decode())
            if isinstance(key, str) and not _encodable(key):
                self.fault("a key holds a lone surrogate, which is no character")
            self._find_surrogates(item, seen)
            self._path.pop()


def _part(key):
    """A key in a pointer; the text of others than Python's own would run the author's code."""
    if type(key) in (str, int, float, bool, type(None)):
        return str(key)
    return f"({_named(type(key))})"


def _dicts_of_the_library():
    """Dicts with other methods; only there if the author's code imports their module."""
    collections = sys.modules.get("collections")
    return () if collections is None else (collections.OrderedDict, collections.defaultdict, collections.Counter)


class _NotPlainError(Exception):
    """Something that `_plain_object` leaves to the long way."""


def _plain_object(value, depth):
    """An object of plain strings, small integers, truth values, None, lists and such objects; keys as inserted."""
    if depth > MAX_DEPTH:
        raise _NotPlainError
    parts = []
    for key, item in value.items():
        if type(key) is not str:
            raise _NotPlainError
        text = encode_basestring(item) if type(item) is str else _plain(item, depth)
        parts.append((_known_keys.get(key) or _plain_key(key)) + text)
    return "{" + ",".join(parts) + "}"


_known_keys = {}
"""Key -> its text with the colon; cases mostly have the same few."""


def _plain_key(key):
    if key[:1].isdigit() or key == "__proto__":
        raise _NotPlainError
    text = encode_basestring(key) + ":"
    if len(_known_keys) < 1000:
        _known_keys[key] = text
    return text


def _plain(value, depth):
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is dict:
        return _plain_object(value, depth + 1)
    if kind is list:
        if depth >= MAX_DEPTH:
            raise _NotPlainError
        return "[" + ",".join([_plain(item, depth + 1) for item in value]) + "]"
    if kind is int and -_SAFE <= value <= _SAFE:
        return str(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    raise _NotPlainError


def _encodable(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _named(kind):
    name = name_of(kind)
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"


def _own_keys(value):
    """ECMA-262, OrdinaryOwnPropertyKeys: array indices ascending, then the others as inserted."""
    indices = [key for key in value if type(key) is str and _is_index(key)]
    if not indices:
        return value
    first = set(indices)
    return sorted(indices, key=int) + [key for key in value if key not in first]


def _is_index(key):
    if not "0" <= key[:1] <= "9" or len(key) > 10 or not key.isascii() or not key.isdigit():
        return False
    return (key[0] != "0" or key == "0") and int(key) <= _LAST_INDEX


def number(value):
    """ECMA-262, Number::toString, for a finite double; `repr` gives the digits that it asks for."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
