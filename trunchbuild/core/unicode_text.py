"""Normal forms, case folding and white space, all from one pinned Unicode version.

A grade must not change with the Python that computes it, so nothing here asks `str.casefold`, `str.strip` or the
standard `unicodedata`: they follow the interpreter's own Unicode version. Normal forms come from `unicodedata2`, whose
exact version `pyproject.toml` pins; case folding from `trunchbuild.core.case_folding`, of the same Unicode version.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from trunchbuild.core.case_folding import FULL, RUNS, UNICODE_VERSION

__all__ = ["UNICODE_VERSION", "WHITE_SPACE", "canonical_fold", "fold", "nfc", "plain_spaces"]

WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
"""The characters with the property White_Space (PropList.txt); the list has not changed since Unicode 6.3."""

# General_Category Zs without U+0020 itself; unchanged since Unicode 6.3 as well.
_SPACE_SEPARATORS = dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " ")


def nfc(text: str) -> str:
    """The text in Normalization Form C."""
    return text if text.isascii() else _normalize("NFC", text)


def fold(text: str) -> str:
    """Full case folding: `toCasefold(X)` of the Unicode Standard, section 3.13; the same in every locale."""
    return text.lower() if text.isascii() else text.translate(_folding())


def canonical_fold(text: str) -> str:
    """A form that is equal for two texts exactly if they match ignoring case and canonical differences.

    Canonical caseless matching, definition D145 of the Unicode Standard, compares NFD(toCasefold(NFD(X))). This is its
    Normalization Form C, so that an accented letter is one unit where texts are searched for one another.
    """
    if text.isascii():
        return text.lower()
    return _normalize("NFC", _normalize("NFD", text).translate(_folding()))


def plain_spaces(text: str) -> str:
    """The text with each space separator (no-break space, thin space ...) written as U+0020; none are joined."""
    return text if text.isascii() else text.translate(_SPACE_SEPARATORS)


def _normalize(form: Literal["NFC", "NFD"], text: str) -> str:
    import unicodedata2  # noqa: PLC0415 - plain ASCII, the usual case, needs no tables

    return str(unicodedata2.normalize(form, text))


@cache
def _folding() -> dict[int, int | str]:
    table: dict[int, int | str] = {
        code: code + offset for first, last, step, offset in RUNS for code in range(first, last + 1, step)
    }
    return table | FULL
