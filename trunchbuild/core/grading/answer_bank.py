"""`answer_bank@1`: an accepted answer stands in the reply, and no forbidden one does.

Both are looked for as substrings, ignoring case and canonical differences (D145 of the Unicode Standard). Forbidden
answers are looked at first: a reply that holds an accepted and a forbidden answer is wrong.
"""

from __future__ import annotations

from trunchbuild.core.grading.parameters import Kind, as_texts, list_of, non_empty_text
from trunchbuild.core.grading.verdict import RIGHT, Grader, Verdict, wrong
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.unicode_text import canonical_fold


def _make(specification: JsonObject) -> Grader:
    answers = [canonical_fold(answer) for answer in as_texts(specification["answers"])]
    forbidden = [canonical_fold(answer) for answer in as_texts(specification.get("forbiddenAnswers", ()))]

    def grade(reply: str) -> Verdict:
        folded = canonical_fold(reply)
        if any(answer in folded for answer in forbidden):
            return wrong("the reply holds a forbidden answer")
        if not any(answer in folded for answer in answers):
            return wrong("the reply holds no accepted answer")
        return RIGHT

    return grade


ANSWER_BANK_1 = Kind(
    parameters={
        "answers": list_of(non_empty_text),
        "forbiddenAnswers": list_of(non_empty_text, may_be_empty=True),
    },
    required=frozenset({"answers"}),
    make=_make,
)
