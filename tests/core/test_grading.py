"""Each built-in kind: replies it accepts beside twins that it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.shared_data import COMMITTED, shared_data
from trunchbuild.core.grading import KINDS, grader
from trunchbuild.core.json_types import JsonObject

NFC_CAFE, NFD_CAFE = "caf\u00e9", "cafe\u0301"

EXACT: JsonObject = {"kind": "exact", "expected": "Paris"}
BANK: JsonObject = {
    "kind": "answer_bank",
    "answers": ["FINAL ANSWER: B", "FINAL ANSWER: (B)"],
    "forbiddenAnswers": ["FINAL ANSWER: A"],
}

REPLIES: list[tuple[str, JsonObject, str, bool]] = [
    # name, specification, reply, right?
    ("non_empty: a word", {"kind": "non_empty"}, " x ", True),
    ("non_empty: nothing", {"kind": "non_empty"}, "", False),
    (
        "non_empty: only space",
        {"kind": "non_empty"},
        " \t\n\r\x0b\x0c\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000",
        False,
    ),
    ("non_empty: a zero is something (R50)", {"kind": "non_empty"}, "0", True),
    ("non_empty: a zero-width space is no White_Space", {"kind": "non_empty"}, "\u200b", True),
    ("exact: the same", EXACT, "Paris", True),
    ("exact: trimmed", EXACT, "\u3000Paris\n", True),
    ("exact: not trimmed", {**EXACT, "trim": False}, "Paris\n", False),
    ("exact: not trimmed, the same", {**EXACT, "trim": False}, "Paris", True),
    ("exact: another case", EXACT, "paris", False),
    ("exact: another case, ignored", {**EXACT, "ignoreCase": True}, "pARIS", True),
    ("exact: more than that", EXACT, "Paris.", False),
    ("exact: one of several", {"kind": "exact", "expected": ["Paris", "Lutetia"]}, "Lutetia", True),
    ("exact: none of several", {"kind": "exact", "expected": ["Paris", "Lutetia"]}, "Paris Lutetia", False),
    ("exact: gold 0 (R50)", {"kind": "exact", "expected": "0"}, "0", True),
    ("exact: gold 0, empty reply (R50)", {"kind": "exact", "expected": "0"}, "", False),
    ("exact: gold false (R50)", {"kind": "exact", "expected": "false"}, "false", True),
    ("exact: gold false, reply 0 (R50)", {"kind": "exact", "expected": "false"}, "0", False),
    ("exact: the empty answer", {"kind": "exact", "expected": ""}, " ", True),
    ("exact: not the empty answer", {"kind": "exact", "expected": ""}, "-", False),
    ("exact: R48", {"kind": "exact", "expected": NFC_CAFE}, NFD_CAFE, True),
    ("exact: R48 the other way", {"kind": "exact", "expected": NFD_CAFE}, NFC_CAFE, True),
    ("exact: R48, forms told apart", {"kind": "exact", "expected": NFC_CAFE, "unicode": "none"}, NFD_CAFE, False),
    ("exact: R48, another letter", {"kind": "exact", "expected": NFC_CAFE}, "cafe", False),
    ("exact: R48, a no-break space", {"kind": "exact", "expected": "10 km"}, "10\u00a0km", True),
    (
        "exact: R48, a no-break space told apart",
        {"kind": "exact", "expected": "10 km", "unicode": "none"},
        "10\u00a0km",
        False,
    ),
    ("exact: R48, no space at all", {"kind": "exact", "expected": "10 km"}, "10km", False),
    ("exact: a line feed is no space", {"kind": "exact", "expected": "10 km"}, "10\nkm", False),
    ("exact: sharp s folds", {"kind": "exact", "expected": "STRASSE", "ignoreCase": True}, "stra\u00dfe", True),
    ("exact: sharp s does not fold by itself", {"kind": "exact", "expected": "STRASSE"}, "stra\u00dfe", False),
    (
        "exact: final sigma",
        {"kind": "exact", "expected": "\u039f\u0394\u039f\u03a3", "ignoreCase": True},
        "\u03bf\u03b4\u03bf\u03c2",
        True,
    ),
    ("exact: dotless i is another letter", {"kind": "exact", "expected": "I", "ignoreCase": True}, "\u0131", False),
    ("exact: i and I in every locale", {"kind": "exact", "expected": "I", "ignoreCase": True}, "i", True),
    ("exact: folding across forms", {"kind": "exact", "expected": "CAF\u00c9", "ignoreCase": True}, NFD_CAFE, True),
    (
        "exact: no folding across forms",
        {"kind": "exact", "expected": "CAF\u00c9", "ignoreCase": True, "unicode": "none"},
        NFD_CAFE,
        False,
    ),
    ("answer_bank: accepted", BANK, "I think.\nfinal answer: b", True),
    ("answer_bank: another accepted", BANK, "FINAL ANSWER: (B)!", True),
    ("answer_bank: neither", BANK, "B", False),
    ("answer_bank: forbidden", BANK, "Final Answer: a", False),
    ("answer_bank: forbidden is looked at first", BANK, "FINAL ANSWER: B ... no, FINAL ANSWER: A", False),
    ("answer_bank: nothing forbidden", {"kind": "answer_bank", "answers": ["yes"]}, "YES or no", True),
    (
        "answer_bank: in another form",
        {"kind": "answer_bank", "answers": [NFC_CAFE]},
        f"le {NFD_CAFE.upper()} noir",
        True,
    ),
    ("answer_bank: an accent makes another letter", {"kind": "answer_bank", "answers": ["cafe"]}, NFD_CAFE, False),
    ("gsm8k: the number", {"kind": "gsm8k", "expected": "18"}, "9 * 2 = 18\n#### 18", True),
    ("gsm8k: another number", {"kind": "gsm8k", "expected": "18"}, "#### 19", False),
    ("gsm8k: no marker", {"kind": "gsm8k", "expected": "18"}, "The answer is 18", False),
    ("gsm8k: commas go", {"kind": "gsm8k", "expected": "1450000"}, "#### 1,450,000 dollars", True),
    ("gsm8k: negative", {"kind": "gsm8k", "expected": "-10"}, "#### -10", True),
    ("gsm8k: the sign counts", {"kind": "gsm8k", "expected": "10"}, "#### -10", False),
    ("gsm8k: the first one counts", {"kind": "gsm8k", "expected": "5"}, "#### 4\n#### 5", False),
    ("gsm8k: only ASCII digits", {"kind": "gsm8k", "expected": "5"}, "#### \u0665\n#### 5", True),
    ("gsm8k: text, not value", {"kind": "gsm8k", "expected": "18"}, "#### 18.0", False),
    ("gsm8k: text, with its full stop", {"kind": "gsm8k", "expected": "18"}, "#### 18.", False),
    ("gsm8k: one space", {"kind": "gsm8k", "expected": "18"}, "####18", False),
    ("contains: one of two", {"kind": "contains", "substrings": ["red", "blue"]}, "it is blue", True),
    ("contains: none of two", {"kind": "contains", "substrings": ["red", "blue"]}, "it is Blue", False),
    (
        "contains: ignoring case",
        {"kind": "contains", "substrings": ["red", "blue"], "ignoreCase": True},
        "it is BLUE",
        True,
    ),
    ("contains: all", {"kind": "contains", "substrings": ["red", "blue"], "all": True}, "blue and red", True),
    ("contains: not all", {"kind": "contains", "substrings": ["red", "blue"], "all": True}, "blue", False),
    ("contains: in another form (R48)", {"kind": "contains", "substrings": [NFC_CAFE]}, f"un {NFD_CAFE}!", True),
    (
        "contains: an accent makes another letter",
        {"kind": "contains", "substrings": ["cafe"]},
        f"un {NFD_CAFE}!",
        False,
    ),
    ("regex: anywhere", {"kind": "regex", "pattern": r"\b4[0-9]\b"}, "so 42 it is", True),
    ("regex: nowhere", {"kind": "regex", "pattern": r"\b4[0-9]\b"}, "so 142 it is", False),
    ("regex: full", {"kind": "regex", "pattern": "a|ab", "match": "full"}, "ab", True),
    ("regex: not full", {"kind": "regex", "pattern": "a|ab", "match": "full"}, "ab\n", False),
    ("regex: case", {"kind": "regex", "pattern": "yes"}, "YES", False),
    ("regex: flag i", {"kind": "regex", "pattern": "yes", "flags": "i"}, "YES", True),
    ("regex: one line", {"kind": "regex", "pattern": "^b$"}, "a\nb", False),
    ("regex: flag m", {"kind": "regex", "pattern": "^b$", "flags": "m"}, "a\nb", True),
    ("regex: dot", {"kind": "regex", "pattern": "a.b"}, "a\nb", False),
    ("regex: flag s", {"kind": "regex", "pattern": "a.b", "flags": "s"}, "a\nb", True),
    ("regex: all flags", {"kind": "regex", "pattern": "^a.B$", "flags": "ims"}, "x\nA\nb\ny", True),
    ("regex: one character beyond the BMP", {"kind": "regex", "pattern": ".", "match": "full"}, "\U0001f600", True),
    ("regex: half a surrogate pair", {"kind": "regex", "pattern": "x"}, "\ud83dx", True),
    ("regex: half a surrogate pair, no match", {"kind": "regex", "pattern": "y"}, "\ud83dx", False),
    ("regex: NUL", {"kind": "regex", "pattern": "x$"}, "a\x00x", True),
]


@pytest.mark.parametrize(
    ("specification", "reply", "right"), [row[1:] for row in REPLIES], ids=[row[0] for row in REPLIES]
)
def test_reply(specification: JsonObject, reply: str, right: bool) -> None:
    """R48, R50 and the rules of `docs/reference/evaluators.md`: each accepted reply beside one that is refused."""
    verdict = grader(specification)(reply)
    assert (verdict.passed, verdict.score) == ((True, 1.0) if right else (False, 0.0))
    assert (verdict.message is None) == right


@pytest.mark.parametrize("kind", [row[1]["kind"] for row in REPLIES if row[3]])
def test_every_kind_is_tried_both_ways(kind: str) -> None:
    """No kind stands in the table with accepted replies alone, and none is missing from it."""
    assert any(row[1]["kind"] == kind and not row[3] for row in REPLIES)
    assert {str(row[1]["kind"]) for row in REPLIES} == set(KINDS)


@pytest.mark.parametrize("specification", [row[1] for row in REPLIES], ids=[row[0] for row in REPLIES])
def test_a_message_holds_no_answer(specification: JsonObject) -> None:
    """Results may be published while the private part is withheld, so a message never quotes what was expected."""
    message = (grader(specification)("\u00a7").message or "").lower()
    secrets = [text for key, value in specification.items() if key != "kind" for text in _texts(value)]
    assert not any(secret.lower() in message for secret in secrets if len(secret) > 2)


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("data", ["committed", "full"])
def test_gsm8k_accepts_every_worked_answer(data: str) -> None:
    """The authors' own worked answers are right for their own numbers, and wrong for the next number."""
    path = COMMITTED / "gsm8k/test-rows.jsonl" if data == "committed" else shared_data("gsm8k/test.jsonl")
    rows = _rows(path)
    assert len(rows) == (36 if data == "committed" else 1_319)
    assert any(number < 0 for _, number in rows)
    assert all(grader({"kind": "gsm8k@1", "expected": str(number)})(answer).passed for answer, number in rows)
    assert not any(grader({"kind": "gsm8k@1", "expected": str(number + 1)})(answer).passed for answer, number in rows)
    assert not any(
        grader({"kind": "gsm8k@1", "expected": str(number)})(answer.replace("#", "")).passed for answer, number in rows
    )


def _rows(path: Path) -> list[tuple[str, int]]:
    answers = [json.loads(line)["answer"] for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [(answer, int(re.sub("[^0-9-]", "", answer.rpartition("\n")[2]))) for answer in answers]


@given(st.text(), st.text(min_size=1))
def test_graders_agree_with_plain_python_on_ascii(reply: str, expected: str) -> None:
    """On ASCII, where Unicode versions cannot differ, the kinds are Python's own `==` and `in`."""
    reply, expected = (text.encode("ascii", "ignore").decode() for text in (reply, expected))
    bare: JsonObject = {"kind": "exact", "expected": expected, "trim": False}
    assert grader(bare)(reply).passed == (reply == expected)
    assert grader({**bare, "ignoreCase": True})(reply).passed == (reply.casefold() == expected.casefold())
    if expected:
        assert grader({"kind": "contains", "substrings": [expected]})(reply).passed == (expected in reply)
        assert grader({"kind": "answer_bank", "answers": [expected]})(reply).passed == (
            expected.casefold() in reply.casefold()
        )


def test_a_pattern_takes_linear_time() -> None:
    """A pattern that hangs backtracking engines for ever answers at once; the test's time limit is the assertion."""
    specification: JsonObject = {"kind": "regex", "pattern": "(a*)*(a*)*b", "match": "full"}
    assert grader(specification)("a" * 100_000).passed is False
    assert grader(specification)("a" * 100_000 + "b").passed is True
