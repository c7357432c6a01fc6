"""`exact@1`: the reply equals an expected text after stated steps.

The steps, in order, on both sides:

1. `unicode` "nfc" (the default): Normalization Form C, and each space separator (no-break space, thin space ...) as
   U+0020. "none": the code points as they are.
2. `trim` (the default): characters with the property White_Space are dropped at both ends.
3. `ignoreCase`: Unicode's full case folding; together with "nfc" it is canonical caseless matching (D145).
"""

from __future__ import annotations

from trunchbuild.core.grading.parameters import Kind, as_texts, flag, one_of, text_or_texts
from trunchbuild.core.grading.verdict import RIGHT, Grader, Verdict, wrong
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.unicode_text import WHITE_SPACE, canonical_fold, fold, nfc, plain_spaces


def _make(specification: JsonObject) -> Grader:
    trim = specification.get("trim", True)
    ignore_case = specification.get("ignoreCase", False)
    normal = specification.get("unicode", "nfc") == "nfc"

    def prepare(text: str) -> str:
        if normal:
            text = plain_spaces(nfc(text))
        if trim:
            text = text.strip(WHITE_SPACE)
        if ignore_case:
            text = canonical_fold(text) if normal else fold(text)
        return text

    expected = frozenset(prepare(text) for text in as_texts(specification["expected"]))

    def grade(reply: str) -> Verdict:
        return RIGHT if prepare(reply) in expected else wrong("the reply is not the expected text")

    return grade


EXACT_1 = Kind(
    parameters={"expected": text_or_texts, "trim": flag, "ignoreCase": flag, "unicode": one_of("nfc", "none")},
    required=frozenset({"expected"}),
    make=_make,
)
