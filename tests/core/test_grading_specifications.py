"""Each fault of a built-in specification is listed with its place, beside a twin without it that is accepted."""

from __future__ import annotations

import pytest

from trunchbuild.core.grading import KINDS, Verdict, check_specification, grader, resolve_kind
from trunchbuild.core.json_types import JsonObject
from trunchbuild.errors import BadInputError

FAULTS: list[tuple[str, JsonObject, JsonObject, list[tuple[str, str]]]] = [
    # name, refused specification, accepted twin, (place below /evaluate, part of the fault) ...
    ("no kind", {"expected": "x"}, {"kind": "exact", "expected": "x"}, [("/kind", "missing evaluator kind")]),
    ("kind is a number", {"kind": 1}, {"kind": "non_empty"}, [("/kind", "got the number 1")]),
    (
        "unknown kind",
        {"kind": "exakt", "expected": "x"},
        {"kind": "exact", "expected": "x"},
        [("/kind", "got `exakt`")],
    ),
    ("unknown number", {"kind": "exact@9", "expected": "x"}, {"kind": "exact@1", "expected": "x"}, [("/kind", "@1")]),
    ("unknown parameter", {"kind": "non_empty", "trim": True}, {"kind": "non_empty"}, [("/trim", "unknown parameter")]),
    ("missing parameter", {"kind": "gsm8k"}, {"kind": "gsm8k", "expected": "1"}, [("/expected", "missing")]),
    (
        "a number expected",
        {"kind": "gsm8k", "expected": 1},
        {"kind": "gsm8k", "expected": "1"},
        [("/expected", "got the number 1")],
    ),
    (
        "false expected (R50)",
        {"kind": "exact", "expected": False},
        {"kind": "exact", "expected": "false"},
        [("/expected", "got the boolean false")],
    ),
    (
        "null expected",
        {"kind": "exact", "expected": None},
        {"kind": "exact", "expected": ""},
        [("/expected", "got null")],
    ),
    (
        "no text in a list",
        {"kind": "exact", "expected": ["a", 2]},
        {"kind": "exact", "expected": ["a", "2"]},
        [("/expected/1", "a string")],
    ),
    (
        "empty list",
        {"kind": "exact", "expected": []},
        {"kind": "exact", "expected": [""]},
        [("/expected", "empty list")],
    ),
    (
        "flag is a word",
        {"kind": "exact", "expected": "a", "trim": "yes"},
        {"kind": "exact", "expected": "a", "trim": False},
        [("/trim", "true or false")],
    ),
    (
        "flag is a number",
        {"kind": "exact", "expected": "a", "trim": 1},
        {"kind": "exact", "expected": "a", "trim": True},
        [("/trim", "true or false")],
    ),
    (
        "unknown form",
        {"kind": "exact", "expected": "a", "unicode": "NFC"},
        {"kind": "exact", "expected": "a", "unicode": "nfc"},
        [("/unicode", '"nfc" or "none"')],
    ),
    (
        "no answers",
        {"kind": "answer_bank", "answers": []},
        {"kind": "answer_bank", "answers": ["a"], "forbiddenAnswers": []},
        [("/answers", "empty list")],
    ),
    (
        "an answer in every reply",
        {"kind": "answer_bank", "answers": [""]},
        {"kind": "answer_bank", "answers": [" "]},
        [("/answers/0", "non-empty")],
    ),
    (
        "answers is a string",
        {"kind": "answer_bank", "answers": "a"},
        {"kind": "answer_bank", "answers": ["a"]},
        [("/answers", "a list of strings")],
    ),
    (
        "nothing to contain",
        {"kind": "contains", "substrings": []},
        {"kind": "contains", "substrings": ["a"]},
        [("/substrings", "empty list")],
    ),
    (
        "empty substring",
        {"kind": "contains", "substrings": ["a", ""]},
        {"kind": "contains", "substrings": ["a", "b"]},
        [("/substrings/1", "non-empty")],
    ),
    (
        "open group",
        {"kind": "regex", "pattern": "(a"},
        {"kind": "regex", "pattern": "(a)"},
        [("/pattern", "missing )")],
    ),
    (
        "look-ahead",
        {"kind": "regex", "pattern": "a(?=b)"},
        {"kind": "regex", "pattern": "a(?:b)"},
        [("/pattern", "(?=")],
    ),
    (
        "back reference",
        {"kind": "regex", "pattern": r"(a)\1"},
        {"kind": "regex", "pattern": "(a)a"},
        [("/pattern", r"\1")],
    ),
    (
        "half a surrogate pair",
        {"kind": "regex", "pattern": "\ud83d"},
        {"kind": "regex", "pattern": "\U0001f600"},
        [("/pattern", "surrogate")],
    ),
    (
        "empty pattern",
        {"kind": "regex", "pattern": ""},
        {"kind": "regex", "pattern": "^$"},
        [("/pattern", "non-empty")],
    ),
    (
        "unknown flag",
        {"kind": "regex", "pattern": "a", "flags": "ix"},
        {"kind": "regex", "pattern": "a", "flags": "mi"},
        [("/flags", "got `ix`")],
    ),
    (
        "flag twice",
        {"kind": "regex", "pattern": "a", "flags": "ii"},
        {"kind": "regex", "pattern": "a", "flags": ""},
        [("/flags", "got `ii`")],
    ),
    (
        "unknown way",
        {"kind": "regex", "pattern": "a", "match": "whole"},
        {"kind": "regex", "pattern": "a", "match": "full"},
        [("/match", '"search" or "full"')],
    ),
    (
        "all faults at once",
        {"kind": "regex", "patern": "a", "flags": 3, "match": None},
        {"kind": "regex", "pattern": "a"},
        [
            ("/patern", "unknown parameter"),
            ("/flags", "got the number 3"),
            ("/match", "got null"),
            ("/pattern", "missing"),
        ],
    ),
]


@pytest.mark.parametrize(("refused", "twin", "expected"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_specification(refused: JsonObject, twin: JsonObject, expected: list[tuple[str, str]]) -> None:
    """Every fault of a specification is listed with its place; its twin without the fault is accepted."""
    faults = check_specification(refused, "case add-017 /evaluate")
    assert [fault.place for fault in faults] == [f"case add-017 /evaluate{at}" for at, _ in expected]
    for fault, (_, part) in zip(faults, expected, strict=True):
        assert part in str(fault)
    with pytest.raises(BadInputError) as caught:
        grader(refused)
    assert len(caught.value.faults) == len(faults)
    assert check_specification(twin, "case add-017 /evaluate") == []
    assert isinstance(grader(twin)("x"), Verdict)


@pytest.mark.parametrize(
    ("specification", "hint"),
    [
        ({"kind": "exakt", "expected": "x"}, "did you mean `exact`?"),
        ({"kind": "Answer-Bank", "answers": ["x"]}, "did you mean `answer_bank`?"),
        ({"kind": "exact", "expected": "x", "ignorecase": True}, "did you mean `ignoreCase`?"),
        ({"kind": "answer_bank", "answers": ["x"], "forbidden_answers": []}, "did you mean `forbiddenAnswers`?"),
        ({"kind": "exact", "expected": 0}, 'write it as a string: "0"'),
        ({"kind": "exact", "expected": True}, 'write it as a string: "true"'),
        ({"kind": "exact", "expected": "x", "zzz": 1}, None),
    ],
)
def test_hint(specification: JsonObject, hint: str | None) -> None:
    """A fault names the nearest known word, or how to write what was meant; without a near word it guesses nothing."""
    (fault,) = check_specification(specification, "")
    assert fault.hint == hint


def test_a_bare_kind_has_the_number_of_the_protocol() -> None:
    """Protocol version 1: every bare kind means number 1, and a written number stays."""
    kinds = {"non_empty", "exact", "answer_bank", "gsm8k", "contains", "regex"}
    assert {kind: resolve_kind(kind) for kind in KINDS} == {kind: f"{kind}@1" for kind in kinds}
    assert [resolve_kind(f"{kind}@1") for kind in sorted(kinds)] == [f"{kind}@1" for kind in sorted(kinds)]


@pytest.mark.parametrize("kind", ["exact@2", "exact@", "exact@01", "exact@1 ", "EXACT", "", "custom"])
def test_an_unknown_kind_lists_the_known_ones(kind: str) -> None:
    """R25: a kind that nobody can grade never passes silently."""
    with pytest.raises(BadInputError) as caught:
        resolve_kind(kind)
    for known in ("answer_bank", "contains", "exact", "gsm8k", "non_empty", "regex"):
        assert f"{known} (@1)" in str(caught.value)
