"""The only function whose bytes get hashed: canonical JSON as RFC 8785 defines it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from trunchbuild.core.ecmascript import SAFE_INTEGER
from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import Json
from trunchbuild.errors import BadInputError

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


def canonical_bytes(value: Json) -> bytes:
    """The RFC 8785 form. Strings, integers, booleans and null go the fast way, numbers with a fraction the reference's.

    Raises:
        BadInputError: The value has no such form: NaN, an infinity, a lone surrogate, an integer beyond 2^53 - 1, a key
            that is no string, nesting beyond Python's stack.
    """
    try:
        if _is_plain(value):
            text = _ENCODER.encode(value)
            # Keys sort by UTF-16 code units (RFC 8785, 3.2.3), which differs from code points only beyond the BMP.
            if text.isascii() or not _BEYOND_BMP.search(text):
                return text.encode("utf-8")
        return _reference(value)
    except (UnicodeEncodeError, RecursionError) as error:
        raise _no_canonical_form(error) from None


def digest_of(value: Json) -> Digest:
    """SHA-256 of the canonical form; the only place where JSON gets hashed."""
    return Digest(hashlib.sha256(canonical_bytes(value)).hexdigest())


def _is_plain(value: Json) -> bool:
    """Whether json's C encoder writes this value as RFC 8785 does, given sorted keys within the BMP."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():  # type: ignore[union-attr]
            if type(key) is not str or (type(item) is not str and not _is_plain(item)):
                return False
        return True
    if kind is int:
        return -SAFE_INTEGER <= value <= SAFE_INTEGER  # type: ignore[operator]
    if kind is list or kind is tuple:
        return all(map(_is_plain, value))  # type: ignore[arg-type]
    return kind is str or kind is bool or value is None


def _reference(value: Json) -> bytes:
    import rfc8785  # noqa: PLC0415 - most values never need it

    try:
        return rfc8785.dumps(_thawed(value))
    except rfc8785.CanonicalizationError as error:
        raise _no_canonical_form(error) from None


def _thawed(value: Json) -> Json:
    """The same value of plain dicts and lists, which is all that the reference takes."""
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_thawed(item) for item in value]
    return value


def _no_canonical_form(error: Exception) -> BadInputError:
    reasons = {RecursionError: "nested too deeply", UnicodeEncodeError: "a lone surrogate"}
    return BadInputError("a value without a canonical JSON form (RFC 8785)", got=reasons.get(type(error), str(error)))
