"""Rows, digests and figures. Digests are recomputed with the standard library, figures by hand."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.figures import figures_of
from trunchbuild.core.ids import Digest
from trunchbuild.core.plan import Trial
from trunchbuild.core.recorded import TrialReply, book_of, read_replies, reply_digest, reply_line
from trunchbuild.core.replies import Failure, Reply, ToolCall
from trunchbuild.core.results import STATUSES, Row, read_results, results_digest
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.core.summary import summarize
from trunchbuild.errors import BadInputError, ExitCode

SPEC = RunSpec(release=Digest("ab" * 32), evals=("sums",), model="m", label="host")


def sha(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def row(name: str, status: Any = "scored", passed: bool | None = True, score: float | None = 1.0, **more: Any) -> Row:
    return Row(Trial("sums", name, more.pop("repeat", 0)), status, passed, score, None, **more)


def test_reply_digest_covers_what_was_said() -> None:
    reply = Reply("4", "so", (ToolCall("f", "{}", "id-1"),), None, "stop")
    said = {
        "content": "4",
        "thinking": "so",
        "tool_calls": [{"name": "f", "arguments": "{}"}],
        "refusal": None,
        "finish_reason": "stop",
    }
    assert reply_digest([reply]) == Digest(sha({"type": "trunchbuild.reply/v1", "steps": [said]}))
    assert reply_digest([Reply("4", "so", (ToolCall("f", "{}", "id-2"),), None, "stop")]) == reply_digest([reply])


@pytest.mark.parametrize(
    "other",
    [
        Reply("5", "so", (), None, "stop"),
        Reply(None, "so", (), None, "stop"),
        Reply("4", None, (), None, "stop"),
        Reply("4", "so", (ToolCall("f", "{}"),), None, "stop"),
        Reply("4", "so", (), "no", "stop"),
        Reply("4", "so", (), None, "length"),
        Reply("4", "so", (), None, None),
    ],
)
def test_every_part_of_a_reply_counts(other: Reply) -> None:
    assert reply_digest([other]) != reply_digest([Reply("4", "so", (), None, "stop")])


def test_a_failure_has_no_reply_digest() -> None:
    assert reply_digest([Failure("http", "HTTP 500")]) is None
    assert reply_digest([Reply("4"), Failure("http", "HTTP 500")]) is None


def test_results_digest_by_hand() -> None:
    """SHA-256 over canonical lines: the spec, then rows sorted by eval, id, repeat."""
    rows = [row("b", score=0.5), row("a", repeat=1), row("a", "failed", None, None)]
    common = {"eval": "sums", "reply_digest": None}
    lines = [
        {"type": "trunchbuild.results/v1", "run": SPEC.json()},
        {**common, "id": "a", "repeat": 0, "status": "failed", "passed": None, "score": None},
        {**common, "id": "a", "repeat": 1, "status": "scored", "passed": True, "score": 1},
        {**common, "id": "b", "repeat": 0, "status": "scored", "passed": True, "score": 0.5},
    ]
    text = b"".join(json.dumps(line, sort_keys=True, separators=(",", ":")).encode() + b"\n" for line in lines)
    assert results_digest(SPEC, rows).hex == hashlib.sha256(text).hexdigest()


def test_words_for_people_do_not_change_the_digest() -> None:
    plain = [row("a"), row("b")]
    told = [row("b", message="well done", details={"x": 1}), row("a")]
    assert results_digest(SPEC, plain) == results_digest(SPEC, told)
    assert results_digest(SPEC, plain) != results_digest(SPEC, [row("a"), row("b", passed=False)])


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
REPLIES = st.builds(
    Reply,
    content=st.none() | TEXTS,
    thinking=st.none() | TEXTS,
    tool_calls=st.lists(st.builds(ToolCall, TEXTS, TEXTS, st.none() | TEXTS), max_size=2).map(tuple),
    refusal=st.none() | TEXTS,
    finish_reason=st.none() | TEXTS,
)
FAILURES = st.builds(Failure, st.sampled_from(["http", "transport"]), TEXTS, st.none() | st.integers(400, 599))


@given(
    st.builds(
        TrialReply,
        trial=st.builds(Trial, TEXTS, TEXTS, st.integers(0, 9)),
        step=REPLIES | FAILURES,
        latency_ms=st.none() | st.integers(0, 10**6),
        usage=st.none() | st.just({"total_tokens": 9}),
        request_sha256=st.none() | st.just("ab" * 32),
        retried=st.integers(0, 5),
    )
)
def test_reply_line_round_trip(reply: TrialReply) -> None:
    """One line of strict JSON, also with U+2028 within; what is read is what was written."""
    line = reply_line(reply)
    assert line.count(b"\n") == 1
    assert list(read_replies([line], "r")) == [(1, reply)]


@given(st.lists(st.builds(
    Row,
    trial=st.builds(Trial, TEXTS, TEXTS, st.integers(0, 9)),
    status=st.sampled_from(STATUSES),
    passed=st.none() | st.booleans(),
    score=st.none() | st.floats(0, 1).map(lambda x: x + 0.0),
    reply_digest=st.none() | st.just(Digest("cd" * 32)),
    message=st.none() | TEXTS,
    details=st.none() | st.just({"a": [1, "x"]}),
), max_size=3))  # fmt: skip
def test_result_line_round_trip(rows: list[Row]) -> None:
    assert [found for _, found in read_results([made.line() for made in rows], "r")] == rows


@pytest.mark.parametrize(
    "change",
    [{"status": "fine"}, {"passed": 1}, {"score": "1"}, {"extra": 1}, {"reply_digest": "x"}, {"repeat": -1}],
)
def test_strange_result_lines_are_refused(change: dict[str, Any]) -> None:
    value = {**row("a").json(), **change}
    with pytest.raises(BadInputError):
        list(read_results([json.dumps(value).encode()], "results.jsonl"))


def test_a_doubled_trial_is_noticed() -> None:
    first, second = TrialReply(Trial("e", "a", 0), Reply("1")), TrialReply(Trial("e", "a", 0), Reply("2"))
    book = book_of([first, second])
    assert book.replies == {first.trial: first}
    assert book.doubled == [first.trial]


def test_figures_by_hand() -> None:
    """6 passed, 2 wrong, 1 refused, 1 failed, 1 truncated; 2 left out. 9 of 11 scored."""
    rows = [row(f"p{n}") for n in range(6)] + [row(f"w{n}", passed=False, score=0.0) for n in range(2)]
    rows += [row("r", "refused", False, 0.0), row("f", "failed", None, None), row("t", "truncated", None, None)]
    rows += [row("u", "unsupported", None, None), row("n", "needs_environment", None, None)]
    figures = figures_of(rows, repeats=1)
    assert (figures.passed, figures.scored, figures.all) == (6, 9, 11)
    assert figures.accuracy.value == 6 / 9
    assert figures.accuracy_all.value == 6 / 11
    assert figures.coverage.value == 9 / 11
    assert figures.mean_score.value == 6 / 9
    # Wilson's interval of 6 in 9, from the formula with z = 1.959964
    z, p, n = 1.959963984540054, 6 / 9, 9
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    assert figures.accuracy.interval is not None
    assert figures.accuracy.interval.low == pytest.approx(centre - half)
    assert figures.accuracy.interval.high == pytest.approx(centre + half)
    # the sample's deviation of six ones and three zeros: sqrt(6 * 3 / (9 * 8)) = 0.5
    assert figures.standard_error == pytest.approx(0.5 / 3)


def test_one_scored_case_has_no_standard_error() -> None:
    """R95: null, never NaN."""
    figures = figures_of([row("a", score=0.3)], repeats=1)
    assert figures.standard_error is None
    assert figures.mean_score.value == 0.3
    assert figures.mean_score.interval is None
    json.dumps(figures.json(withheld=False), allow_nan=False)


def test_no_scored_case_gives_no_score() -> None:
    """R95, R58: no score, another exit code than 0, strict JSON."""
    failed = summarize(SPEC, [row("a", "failed", None, None)], partial=False, min_coverage=0)
    assert failed.withheld == "no trial was scored"
    assert failed.exit_code == ExitCode.MACHINE
    empty = summarize(SPEC, [row("a", "empty", None, None)], partial=False, min_coverage=0)
    assert empty.exit_code == ExitCode.NO
    nothing = summarize(SPEC, [row("a", "unsupported", None, None)], partial=False, min_coverage=0)
    assert nothing.exit_code == ExitCode.NO
    for summary in (failed, empty, nothing):
        figures = summary.json()["figures"]
        assert isinstance(figures, dict)
        assert figures["accuracy"] == {"value": None, "low": None, "high": None}
        assert figures["passed"] is None
        json.dumps(summary.json(), allow_nan=False)


def test_below_the_declared_coverage_scores_are_withheld() -> None:
    """8 of 10 scored: enough for 0.8, not for 0.81."""
    rows = [row(f"p{n}") for n in range(8)] + [row(f"f{n}", "failed", None, None) for n in range(2)]
    enough = summarize(SPEC, rows, partial=False, min_coverage=0.8)
    assert (enough.withheld, enough.exit_code) == (None, ExitCode.YES)
    short = summarize(SPEC, rows, partial=False, min_coverage=0.81)
    assert short.withheld == "coverage 0.8000 is below 0.81"
    assert short.exit_code == ExitCode.NO


def test_repeats_have_no_interval_of_single_trials() -> None:
    """Trials of one case are not independent: Wilson's interval would be too narrow."""
    figures = figures_of([row("a"), row("a", repeat=1)], repeats=2)
    assert figures.accuracy.value == 1
    assert figures.accuracy.interval is None
