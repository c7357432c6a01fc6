"""`gsm8k@1`: the number after the first `#### ` equals the expected one as text.

The rule of the data set's authors (openai/grade-school-math, `grade_school_math/dataset.py`, `extract_answer`): the
first match of `#### (-?[0-9.,]+)`, commas removed, compared as text. So `18.0` is not `18`, and `18.` is not either.
"""

from __future__ import annotations

import re

from trunchbuild.core.grading.parameters import Kind, text
from trunchbuild.core.grading.verdict import RIGHT, Grader, Verdict, wrong
from trunchbuild.core.json_types import JsonObject

_ANSWER = re.compile(r"#### (-?[0-9.,]+)")


def _make(specification: JsonObject) -> Grader:
    expected = specification["expected"]

    def grade(reply: str) -> Verdict:
        match = _ANSWER.search(reply)
        if match is None:
            return wrong("the reply has no `#### <number>`")
        return RIGHT if match[1].replace(",", "") == expected else wrong("another number than the expected one")

    return grade


GSM8K_1 = Kind(parameters={"expected": text}, required=frozenset({"expected"}), make=_make)
