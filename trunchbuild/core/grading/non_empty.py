"""`non_empty@1`: the reply says something."""

from __future__ import annotations

from trunchbuild.core.grading.parameters import Kind
from trunchbuild.core.grading.verdict import RIGHT, Grader, Verdict, wrong
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.unicode_text import WHITE_SPACE


def _make(_specification: JsonObject) -> Grader:
    def grade(reply: str) -> Verdict:
        """Right if a character remains that is not White_Space."""
        return RIGHT if reply.strip(WHITE_SPACE) else wrong("the reply holds nothing but space")

    return grade


NON_EMPTY_1 = Kind(parameters={}, required=frozenset(), make=_make)
