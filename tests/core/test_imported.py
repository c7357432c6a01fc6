"""Replies made elsewhere, as the contract states their lines."""

from __future__ import annotations

import json

import pytest

from trunchbuild.core.ids import CaseId
from trunchbuild.core.imported import read_imported
from trunchbuild.core.plan import Trial
from trunchbuild.core.replies import Failure, Reply
from trunchbuild.errors import BadInputError

CASES = [CaseId("sums", "a"), CaseId("sums", "b"), CaseId("words", "a")]


def read(*rows: object, evals: tuple[str, ...] = ("sums", "words")):
    return read_imported([json.dumps(row).encode() for row in rows], CASES, evals, "r.jsonl")


def test_the_smallest_lines() -> None:
    found = read({"id": "b", "response": "4"}, {"id": "a", "eval": "words", "response": "x", "finish_reason": "length"})
    assert [(reply.trial, reply.step) for reply in found.replies] == [
        (Trial("sums", "b", 0), Reply("4")),
        (Trial("words", "a", 0), Reply("x", finish_reason="length")),
    ]
    assert found.repeat == 1


def test_one_eval_makes_ids_unique() -> None:
    found = read({"id": "a", "response": "4"}, evals=("sums",))
    assert found.replies[0].trial == Trial("sums", "a", 0)


@pytest.mark.parametrize("first", [0, 1])
def test_repeats_count_from_0_or_1(first: int) -> None:
    found = read(*({"id": "b", "response": str(n), "repeat": first + n} for n in range(3)))
    assert [reply.trial.repeat for reply in found.replies] == [0, 1, 2]
    assert found.repeat == 3


def test_more_that_our_own_lines_say() -> None:
    found = read({"id": "b", "response": None, "refusal": "no", "reasoning_content": "so", "latency_ms": 3, "seed": 1})
    assert found.replies[0].step == Reply(None, "so", (), "no")
    failed = read({"id": "b", "response": None, "error": {"message": "HTTP 500"}})
    assert isinstance(failed.replies[0].step, Failure)


@pytest.mark.parametrize(
    ("rows", "place", "word"),
    [
        ([{"id": "z", "response": "4"}], "r.jsonl:1", "no such case"),
        ([{"id": "a", "response": "4"}], "r.jsonl:1", "more than one case"),
        ([{"id": "b", "response": "4"}, {"id": "b", "response": "5"}], "r.jsonl:2", "second reply"),
        ([{"id": "b"}], "r.jsonl:1", "missing"),
        ([{"response": "4"}], "r.jsonl:1", "missing"),
        ([{"id": "b", "response": 4}], "r.jsonl:1/response", "wrong value"),
        ([{"id": "b", "response": "4", "repeat": "0"}], "r.jsonl:1/repeat", "wrong value"),
        ([["b", "4"]], "r.jsonl:1", "wrong type"),
        ([{"id": "b", "response": "4", "repeat": -1}], "r.jsonl:1/repeat", "wrong value"),
        ([{"id": "b", "response": "4", "repeat": 0}, {"id": "b", "response": "4", "repeat": 10**12}], "r.jsonl", "gap"),
        ([{"id": "b", "response": "4", "repeat": 2}], "r.jsonl", "gap"),
        ([], "r.jsonl", "no replies"),
    ],
)
def test_lines_that_are_refused(rows: list[object], place: str, word: str) -> None:
    """Unknown and double ids are errors, each by its line."""
    with pytest.raises(BadInputError) as caught:
        read(*rows)
    assert caught.value.faults[0].place == place
    assert word in str(caught.value.faults[0])


def test_every_fault_is_listed() -> None:
    with pytest.raises(BadInputError) as caught:
        read({"id": "z", "response": "4"}, {"id": "b", "response": "4"}, {"id": "y", "response": "4"})
    assert [fault.place for fault in caught.value.faults] == ["r.jsonl:1", "r.jsonl:3"]
