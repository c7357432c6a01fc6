"""`contains@1`: one, or with `all` every, given substring stands in the reply.

Both sides are brought to Normalization Form C; with `ignoreCase` they are compared by canonical caseless matching
(D145 of the Unicode Standard).
"""

from __future__ import annotations

from trunchbuild.core.grading.parameters import Kind, as_texts, flag, list_of, non_empty_text
from trunchbuild.core.grading.verdict import RIGHT, Grader, Verdict, wrong
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.unicode_text import canonical_fold, nfc


def _make(specification: JsonObject) -> Grader:
    prepare = canonical_fold if specification.get("ignoreCase", False) else nfc
    substrings = [prepare(substring) for substring in as_texts(specification["substrings"])]
    every = specification.get("all", False)

    def grade(reply: str) -> Verdict:
        prepared = prepare(reply)
        found = sum(substring in prepared for substring in substrings)
        if found == len(substrings) or (found and not every):
            return RIGHT
        return wrong(f"the reply holds {found} of {len(substrings)} substrings")

    return grade


CONTAINS_1 = Kind(
    parameters={"substrings": list_of(non_empty_text), "all": flag, "ignoreCase": flag},
    required=frozenset({"substrings"}),
    make=_make,
)
