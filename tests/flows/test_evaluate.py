"""Runs against endpoints in memory: what is asked, what is written, what is never confused."""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.endpoints import FakeEndpoints
from tests.support.releases import export
from tests.support.runs import (
    CANARY,
    Bench,
    bench,
    doors,
    grade_doors,
    jsonl,
    judged_eval,
    no_runtime,
    one_eval,
    right,
    sum_case,
    sums,
)
from trunchbuild.core.case_settings import Tool
from trunchbuild.core.ids import CaseId
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.replies import Failure, Reply, Step
from trunchbuild.core.run_spec import RequestSettings
from trunchbuild.effects.endpoint.api import Exchange, RetryLaterError
from trunchbuild.effects.runtime.api import EvaluatorCall, EvaluatorFailure, EvaluatorOutcome, EvaluatorVerdict
from trunchbuild.errors import BadInputError, ExitCode
from trunchbuild.flows.ask import HopelessEndpointError, TokenBudgetError
from trunchbuild.flows.evaluate import RunOutcome, evaluate, request_bodies
from trunchbuild.flows.grade import IncompleteRunError, grade_run
from trunchbuild.flows.grade_trials import PrivatePartMissingError
from trunchbuild.flows.read_cases import ToolsNotAvailableError
from trunchbuild.flows.recorded_replies import DroppedRepliesError
from trunchbuild.flows.run_folder import as_name, read_run_file


def answers(body: dict[str, Any]) -> Step:
    return Reply(right(body), finish_reason="stop")


def prompt(body: dict[str, Any]) -> int:
    return int(body["messages"][-1]["content"].split()[0])


def run(b: Bench, endpoints: FakeEndpoints, **changes: Any) -> RunOutcome:
    return evaluate(b.release, b.options(**changes), doors(endpoints))


def digest(outcome: RunOutcome) -> str:
    assert outcome.summary is not None
    return str(outcome.summary.digest)


def statuses(outcome: RunOutcome) -> dict[str, str]:
    return {row["id"]: row["status"] for row in jsonl(outcome.folder / "results.jsonl")}


def test_a_whole_run(tmp_path: Path) -> None:
    """Three sums, two right: 2/3, and every file agrees."""
    b = bench(tmp_path)
    outcome = run(b, FakeEndpoints(lambda body: Reply("1" if prompt(body) == 2 else right(body), finish_reason="stop")))
    assert outcome.summary is not None
    assert outcome.summary.exit_code == ExitCode.YES
    assert outcome.folder == b.out / f"small-sums-1.0.0-{b.release_id.short}" / "here" / "m" / b.spec().run_id.short
    assert sorted(path.name for path in outcome.folder.iterdir()) == [
        "journal.sqlite",
        "replies.jsonl",
        "results.jsonl",
        "run.json",
        "summary.json",
    ]
    rows = jsonl(outcome.folder / "results.jsonl")
    assert [(row["id"], row["passed"], row["score"]) for row in rows] == [
        ("q0", True, 1),
        ("q1", True, 1),
        ("q2", False, 0),
    ]
    replies = jsonl(outcome.folder / "replies.jsonl")
    assert [(reply["id"], reply["response"], reply["finish_reason"]) for reply in replies] == [
        ("q0", "1", "stop"),
        ("q1", "2", "stop"),
        ("q2", "1", "stop"),
    ]
    summary = json.loads((outcome.folder / "summary.json").read_text())
    assert summary["figures"]["accuracy"]["value"] == 2 / 3
    assert summary["figures"]["coverage"]["value"] == 1
    assert summary["results_digest"] == digest(outcome)
    assert summary["cost"] == {"calls": 3, "calls_of_unknown_usage": 0, "tokens": 27}
    stated = json.loads((outcome.folder / "run.json").read_text())
    assert stated["run"] == str(b.spec().run_id)
    assert stated["partial"] is False


STATUS_TABLE: dict[int, tuple[Step, str]] = {
    0: (Reply("1", finish_reason="stop"), "scored"),
    1: (Reply(None, refusal="no", finish_reason="stop"), "refused"),
    2: (Reply("3", finish_reason="length"), "truncated"),
    3: (Reply("<think>so 4", finish_reason="stop"), "truncated"),
    4: (Reply("", finish_reason="content_filter"), "filtered"),
    5: (Reply("", thinking="so 6", finish_reason="stop"), "empty"),
    6: (Failure("http", "HTTP 500: busy", 500), "failed"),
    7: (Failure("unsupported", "HTTP 400: no tools here", 400), "unsupported"),
    8: (Reply("", finish_reason="stop"), "scored"),
    9: (Reply("10", finish_reason=None), "scored"),
}


def test_every_status_and_its_place_in_the_figures(tmp_path: Path) -> None:
    """R56, R64, R67: unscored is not wrong. 2 passed; 3 scored and 1 refused; 9 that count, 1 left out."""
    b = bench(tmp_path, sums(10))
    outcome = run(b, FakeEndpoints(lambda body: STATUS_TABLE[prompt(body)][0]), min_coverage=0.4)
    assert statuses(outcome) == {f"q{number}": status for number, (_, status) in STATUS_TABLE.items()}
    summary = json.loads((outcome.folder / "summary.json").read_text())
    figures = summary["figures"]
    assert (figures["passed"], figures["scored"], figures["all"]) == (2, 4, 9)
    assert figures["accuracy"]["value"] == 2 / 4
    assert figures["accuracy_all"]["value"] == 2 / 9
    assert figures["coverage"]["value"] == 4 / 9
    assert summary["left_out"] == [{"eval": "sums", "id": "q7", "repeat": 0, "status": "unsupported"}]
    for row in jsonl(outcome.folder / "results.jsonl"):
        judged = row["status"] in ("scored", "refused")
        assert (row["passed"] is not None) is judged
        assert (row["score"] is not None) is judged


def test_below_coverage_there_is_no_score(tmp_path: Path) -> None:
    """Two of three fail: coverage 0.33, no figure but the coverage, exit 1; everything is kept."""
    b = bench(tmp_path)
    failing = FakeEndpoints(lambda body: answers(body) if prompt(body) == 0 else Failure("http", "HTTP 500", 500))
    outcome = run(b, failing)
    assert outcome.summary is not None
    assert outcome.summary.exit_code == ExitCode.NO
    summary = json.loads((outcome.folder / "summary.json").read_text())
    assert summary["withheld"] == "coverage 0.3333 is below 0.8"
    assert summary["figures"]["accuracy"] == {"value": None, "low": None, "high": None}
    assert summary["figures"]["coverage"]["value"] == 1 / 3
    whole = run(b, FakeEndpoints(answers))
    assert whole.asked == 2
    assert whole.summary is not None
    assert whole.summary.exit_code == ExitCode.YES


def test_when_every_call_failed_there_is_no_score(tmp_path: Path) -> None:
    """R58: HTTP 400 to everything is no 0.0 but no result, and exit 4."""
    b = bench(tmp_path)
    outcome = run(b, FakeEndpoints(lambda body: Failure("http", "HTTP 400: bad request", 400)), min_coverage=0)
    assert outcome.summary is not None
    assert outcome.summary.exit_code == ExitCode.MACHINE
    summary = json.loads((outcome.folder / "summary.json").read_text())
    assert summary["figures"]["accuracy"]["value"] is None
    assert summary["withheld"] == "no trial was scored"


def stopping_after(count: int) -> FakeEndpoints:
    """Answers so many, then breaks."""
    given = iter(range(count))

    def answer(body: dict[str, Any]) -> Step:
        if next(given, None) is None:
            raise RetryLaterError("come back later")
        return answers(body)

    return FakeEndpoints(answer)


def test_a_stopped_run_asks_only_what_is_missing(tmp_path: Path) -> None:
    """R71, R78: the resumed run covers all cases, and has the digest of an uninterrupted one."""
    b = bench(tmp_path, sums(20))
    first = stopping_after(12)
    with pytest.raises(RetryLaterError):
        run(b, first)
    second = FakeEndpoints(answers)
    resumed = run(b, second)
    assert resumed.asked == 20 - 12
    assert len(set(first.bodies) | set(second.bodies)) == 20
    assert resumed.summary is not None
    assert resumed.summary.total.all == 20
    other = Bench(b.store, b.release_id, tmp_path / "other")
    assert digest(run(other, FakeEndpoints(answers))) == digest(resumed)


def test_an_identical_command_asks_nothing_again(tmp_path: Path) -> None:
    b = bench(tmp_path)
    first = run(b, FakeEndpoints(answers))
    idle = FakeEndpoints(answers)
    again = run(b, idle)
    assert (again.asked, idle.connected) == (0, 0)
    assert digest(again) == digest(first)


def test_failed_calls_alone_are_asked_again(tmp_path: Path) -> None:
    """R79: 3 of 20 failed; the same command makes 3 calls."""
    b = bench(tmp_path, sums(20))
    run(b, FakeEndpoints(lambda body: Failure("http", "503", 503) if prompt(body) < 3 else answers(body)))
    again = FakeEndpoints(answers)
    outcome = run(b, again)
    assert sorted(prompt(json.loads(body)) for body in again.bodies) == [0, 1, 2]
    assert outcome.summary is not None
    assert outcome.summary.total.scored == 20
    assert outcome.cost["calls"] == 23


def test_retry_failed_also_asks_what_was_cut_filtered_or_empty(tmp_path: Path) -> None:
    """Answers, right or wrong, and refusals stay."""
    b = bench(tmp_path, sums(10))
    run(b, FakeEndpoints(lambda body: STATUS_TABLE[prompt(body)][0]), min_coverage=0)
    plain = FakeEndpoints(lambda body: STATUS_TABLE[prompt(body)][0])
    run(b, plain, min_coverage=0)
    assert sorted(prompt(json.loads(body)) for body in plain.bodies) == [6]
    again = FakeEndpoints(answers)
    outcome = run(b, again, retry_failed=True)
    assert sorted(prompt(json.loads(body)) for body in again.bodies) == [2, 3, 4, 5, 6]
    assert list(statuses(outcome).values()).count("scored") == 8


def test_concurrency_and_order_do_not_change_the_digest(tmp_path: Path) -> None:
    b = bench(tmp_path, sums(30))
    made = set()
    for connections in (1, 7, 200):
        here = Bench(b.store, b.release_id, tmp_path / str(connections))
        options = here.options()
        limits = replace(options.asking.limits, connections=connections)
        asking = replace(options.asking, limits=limits)
        made.add(digest(evaluate(here.release, replace(options, asking=asking), doors(FakeEndpoints(answers)))))
    assert len(made) == 1


def test_a_slow_endpoint_gets_every_connection(tmp_path: Path) -> None:
    """Connections beyond the first 64 are opened while replies take their time; an instant endpoint needs none."""

    def most_at_once(seconds: float, folder: str) -> int:
        busy = most = 0

        class Slow(FakeEndpoints):
            async def ask(self, body: bytes) -> Exchange:
                nonlocal busy, most
                busy += 1
                most = max(most, busy)
                await asyncio.sleep(seconds)
                busy -= 1
                return await super().ask(body)

        here = Bench(b.store, b.release_id, tmp_path / folder)
        options = here.options()
        asking = replace(options.asking, limits=replace(options.asking.limits, connections=150))
        evaluate(here.release, replace(options, asking=asking), doors(Slow(answers)))
        return most

    b = bench(tmp_path, sums(160))
    assert most_at_once(1.0, "slow") == 150
    assert most_at_once(0.0, "instant") <= 64


def test_a_run_of_other_settings_is_another_run(tmp_path: Path) -> None:
    """R73: the same case at another temperature is asked again; a partial run never touches the full one."""
    b = bench(tmp_path)
    full = run(b, FakeEndpoints(answers))
    warm = FakeEndpoints(answers)
    other = run(b, warm, spec=b.spec(request=RequestSettings(temperature=0.9)))
    assert len(warm.bodies) == 3
    part = run(b, FakeEndpoints(answers), spec=b.spec(limit=2))
    assert len({full.folder, other.folder, part.folder}) == 3
    assert json.loads((part.folder / "run.json").read_text())["partial"] is True
    assert len(jsonl(full.folder / "results.jsonl")) == 3


def test_a_folder_with_another_run_is_refused_with_the_difference(tmp_path: Path) -> None:
    """As when two runs were copied over each other."""
    b = bench(tmp_path)
    one = run(b, FakeEndpoints(answers))
    two = run(b, FakeEndpoints(answers), spec=b.spec(model="n"))
    shutil.copy(two.folder / "run.json", one.folder / "run.json")
    with pytest.raises(BadInputError, match='model: "n" -> "m"'):
        run(b, FakeEndpoints(answers))


def test_fresh_moves_the_old_run_aside(tmp_path: Path) -> None:
    b = bench(tmp_path)
    first = run(b, FakeEndpoints(answers))
    old = (first.folder / "results.jsonl").read_bytes()
    again = FakeEndpoints(answers)
    second = run(b, again, fresh=True)
    assert len(again.bodies) == 3
    assert second.moved_to is not None
    assert (second.moved_to / "results.jsonl").read_bytes() == old
    third = run(b, FakeEndpoints(answers), fresh=True)
    assert third.moved_to is not None
    assert {second.moved_to.name, third.moved_to.name} == {f"{first.folder.name}.old-1", f"{first.folder.name}.old-2"}


def test_results_without_a_journal_are_not_overwritten(tmp_path: Path) -> None:
    b = bench(tmp_path)
    outcome = run(b, FakeEndpoints(answers))
    (outcome.folder / "journal.sqlite").unlink()
    with pytest.raises(BadInputError, match="its journal is gone"):
        run(b, FakeEndpoints(answers))
    assert len(jsonl(outcome.folder / "results.jsonl")) == 3


def test_repeats_are_trials_of_their_own(tmp_path: Path) -> None:
    b = bench(tmp_path)
    endpoints = FakeEndpoints(answers)
    spec = b.spec(repeat=2, request=RequestSettings(temperature=1, seed=7))
    outcome = run(b, endpoints, spec=spec)
    assert sorted(json.loads(body)["seed"] for body in endpoints.bodies) == [7, 7, 7, 8, 8, 8]
    rows = jsonl(outcome.folder / "results.jsonl")
    assert [(row["id"], row["repeat"]) for row in rows] == [(f"q{n}", r) for n in range(3) for r in range(2)]


def test_a_token_budget_stops_and_resumes(tmp_path: Path) -> None:
    """9 tokens a call; with 4 connections the calls that are under way still count."""
    b = bench(tmp_path, sums(40))
    options = b.options()
    limited = replace(options, asking=replace(options.asking, max_total_tokens=90))
    first = FakeEndpoints(answers)
    with pytest.raises(TokenBudgetError, match="at most 90 tokens"):
        evaluate(b.release, limited, doors(first))
    assert 10 <= len(first.bodies) < 10 + 4
    idle = FakeEndpoints(answers)
    with pytest.raises(TokenBudgetError):
        evaluate(b.release, limited, doors(idle))
    assert idle.bodies == []
    assert run(b, FakeEndpoints(answers)).asked == 40 - len(first.bodies)


def test_an_endpoint_that_takes_nothing_ends_the_run_early(tmp_path: Path) -> None:
    """1,000 times `wrong key` helps nobody; a fault of the prompts (400) goes on to the end."""
    b = bench(tmp_path, sums(60))
    refusing = FakeEndpoints(lambda body: Failure("http", "HTTP 401: wrong key", 401))
    with pytest.raises(HopelessEndpointError, match="wrong key"):
        run(b, refusing)
    assert len(refusing.bodies) < 30
    patient = FakeEndpoints(lambda body: Failure("http", "HTTP 400", 400))
    run(Bench(b.store, b.release_id, tmp_path / "other"), patient)
    assert len(patient.bodies) == 60


def test_cases_that_need_an_environment_are_listed_and_never_asked(tmp_path: Path) -> None:
    cases = [sum_case(0), sum_case(1, sandbox={"required": True}), sum_case(2)]
    b = bench(tmp_path, one_eval(cases))
    endpoints = FakeEndpoints(answers)
    outcome = run(b, endpoints)
    assert len(endpoints.bodies) == 2
    assert statuses(outcome)["q1"] == "needs_environment"
    assert outcome.summary is not None
    assert outcome.summary.total.all == 2


def test_cases_with_tools_are_refused_by_name(tmp_path: Path) -> None:
    """Nothing is asked, so that nobody pays for a run that means something else later."""
    tools = {"add": Tool("Adds.", {"type": "object"}, None)}
    b = bench(tmp_path, one_eval([sum_case(0), sum_case(1, tools=[])], tools=tools))
    endpoints = FakeEndpoints(answers)
    with pytest.raises(ToolsNotAvailableError) as caught:
        run(b, endpoints)
    assert [fault.place for fault in caught.value.faults] == ["case sums/q0"]
    assert endpoints.bodies == []
    only = run(b, endpoints, spec=b.spec(cases=(CaseId("sums", "q1"),)))
    assert only.asked == 1


def test_the_private_part_is_never_there_while_requests_are_made(tmp_path: Path) -> None:
    """At each call the canary of the private part is in no request and in no string or bytes of the process."""
    b = bench(tmp_path, sums(5))
    seen: list[bool] = []
    mine = {id(CANARY)}

    def answer(body: dict[str, Any]) -> Step:
        seen.append(any(CANARY in text for text in texts_in_memory(mine)))
        return answers(body)

    endpoints = FakeEndpoints(answer)
    outcome = run(b, endpoints)
    assert seen == [False] * 5
    assert not any(CANARY.encode() in body for body in endpoints.bodies)
    assert not any(CANARY.encode() in path.read_bytes() for path in outcome.folder.iterdir())
    # The twin: the same search finds it where it is.
    held = [b.release.read("private.jsonl").decode()]
    assert any(CANARY in text for text in texts_in_memory(mine))
    assert held


def texts_in_memory(but: set[int]) -> Iterator[str]:
    """Every string and bytes that a container of this process holds, but code constants."""
    for thing in gc.get_objects():
        if isinstance(thing, dict | list | tuple | set | frozenset):
            values = thing.values() if isinstance(thing, dict) else thing
            for value in list(values):
                if id(value) in but:
                    continue
                if isinstance(value, str):
                    yield value
                elif isinstance(value, bytes | bytearray):
                    yield value.decode("utf-8", "replace")


def test_grading_again_gives_the_same_digest(tmp_path: Path) -> None:
    """From the release and the replies alone: also with the journal gone."""
    b = bench(tmp_path, sums(10))
    outcome = run(b, FakeEndpoints(lambda body: STATUS_TABLE[prompt(body)][0]), min_coverage=0.1)
    files = {name: (outcome.folder / name).read_bytes() for name in ("results.jsonl", "replies.jsonl")}
    for gone in ("results.jsonl", "summary.json", "journal.sqlite"):
        (outcome.folder / gone).unlink()
        run_file = read_run_file(outcome.folder, grade_doors().files)
        summary = grade_run(outcome.folder, run_file, b.release, grade_doors())
        assert str(summary.digest) == digest(outcome)
        assert {name: (outcome.folder / name).read_bytes() for name in files} == files


def test_no_grade_asks_only_and_grade_does_the_rest(tmp_path: Path) -> None:
    b = bench(tmp_path)
    outcome = run(b, FakeEndpoints(answers), grade=False)
    assert outcome.summary is None
    assert sorted(path.name for path in outcome.folder.iterdir()) == ["journal.sqlite", "run.json"]
    run_file = read_run_file(outcome.folder, grade_doors().files)
    summary = grade_run(outcome.folder, run_file, b.release, grade_doors())
    assert summary.total.passed == 3


def test_an_unfinished_run_is_not_graded(tmp_path: Path) -> None:
    b = bench(tmp_path, sums(20))
    with pytest.raises(RetryLaterError):
        run(b, stopping_after(5))
    folder = b.out / f"small-sums-1.0.0-{b.release_id.short}" / "here" / "m" / b.spec().run_id.short
    with pytest.raises(IncompleteRunError, match="15 of 20"):
        grade_run(folder, read_run_file(folder, grade_doors().files), b.release, grade_doors())


def test_replies_that_are_not_to_be_kept(tmp_path: Path) -> None:
    """No file holds a word of them; results stand, and only failed trials are asked again."""
    b = bench(tmp_path, sums(5))

    def answer(body: dict[str, Any]) -> Step:
        return Failure("http", "HTTP 503", 503) if prompt(body) == 4 else Reply(f"swordfish {right(body)}")

    first = run(b, FakeEndpoints(answer), save_replies=False)
    for path in first.folder.iterdir():
        assert b"swordfish" not in path.read_bytes()
    assert not (first.folder / "replies.jsonl").exists()
    again = FakeEndpoints(answers)
    second = run(b, again, save_replies=False)
    assert len(again.bodies) == 1
    assert [row["passed"] for row in jsonl(second.folder / "results.jsonl")] == [False, False, False, False, True]
    with pytest.raises(DroppedRepliesError):
        grade_run(second.folder, read_run_file(second.folder, grade_doors().files), b.release, grade_doors())


class Judge:
    """A runtime whose evaluator says what the test wants."""

    def __init__(self, outcomes: Iterable[EvaluatorOutcome]) -> None:
        self.outcomes = list(outcomes)
        self.calls: list[EvaluatorCall] = []
        self.members: list[tuple[str, str]] = []

    def strip(self, sources: Any) -> Any:
        return sources

    def evaluate(self, graph: ModuleGraph, member: str, calls: Iterable[EvaluatorCall]) -> Iterator[EvaluatorOutcome]:
        self.calls += list(calls)
        self.members.append((graph.entry, member))
        return iter(self.outcomes)


EVALUATOR = {"evaluators/half.py": "def evaluate(call):\n    return {'passed': True, 'score': 1, 'message': None}\n"}


def test_evaluators_of_the_repository(tmp_path: Path) -> None:
    """Verdicts become rows; throws and numbers that are none become grader errors, never 0 or 1 (R21)."""
    b = bench(tmp_path, judged_eval(5), modules=EVALUATOR)
    judge = Judge(
        [
            EvaluatorVerdict(True, 0.25, "close", {"near": 1}),
            EvaluatorVerdict(False, 0.0, None),
            EvaluatorFailure("the evaluator threw: boom"),
            EvaluatorVerdict(True, float("nan"), None),
            EvaluatorVerdict(True, 1.5, None),
        ]
    )
    outcome = evaluate(b.release, b.options(), doors(FakeEndpoints(answers), lambda: judge))  # type: ignore[arg-type,return-value]
    rows = jsonl(outcome.folder / "results.jsonl")
    assert [(row["status"], row["passed"], row["score"]) for row in rows] == [
        ("scored", True, 0.25),
        ("scored", False, 0),
        ("grader_error", None, None),
        ("grader_error", None, None),
        ("grader_error", None, None),
    ]
    assert rows[0]["details"] == {"near": 1}
    assert rows[2]["message"] == "the evaluator threw: boom"
    assert judge.members == [("evaluators/half.py", "default.evaluate")]
    assert [(call.case_id, call.output, call.case_data) for call in judge.calls][:2] == [
        ("j0", "1", {"want": 1}),
        ("j1", "2", {"want": 2}),
    ]


def test_unscored_trials_reach_no_evaluator(tmp_path: Path) -> None:
    b = bench(tmp_path, judged_eval(2), modules=EVALUATOR)
    judge = Judge([EvaluatorVerdict(True, 1.0, None)])
    cut = FakeEndpoints(lambda body: Reply("1", finish_reason="length" if prompt(body) else "stop"))
    evaluate(b.release, b.options(), doors(cut, lambda: judge))  # type: ignore[arg-type,return-value]
    assert [call.case_id for call in judge.calls] == ["j0"]


def test_dry_run_bodies_are_what_is_sent(tmp_path: Path) -> None:
    b = bench(tmp_path, sums(6))
    spec = b.spec(repeat=2)
    endpoints = FakeEndpoints(answers)
    run(b, endpoints, spec=spec)
    assert sorted(body for _, body in request_bodies(b.release, spec)) == sorted(endpoints.bodies)


def test_a_spec_without_cases_is_refused(tmp_path: Path) -> None:
    b = bench(tmp_path)
    with pytest.raises(BadInputError, match="not in the release"):
        run(b, FakeEndpoints(answers), spec=b.spec(cases=(CaseId("sums", "q0"), CaseId("sums", "nope"))))


def test_a_run_too_large_to_be_planned_is_refused(tmp_path: Path) -> None:
    """Before the plan is made: a stranger's run.json can state any number."""
    b = bench(tmp_path)
    with pytest.raises(BadInputError, match="too many trials"):
        run(b, FakeEndpoints(answers), spec=b.spec(repeat=10**12))


def test_nobody_pays_for_what_cannot_be_graded(tmp_path: Path) -> None:
    """A withheld private part, and an evaluator number of a later build, are found before the first call."""
    b = bench(tmp_path)
    endpoints = FakeEndpoints(answers)
    folder = export(b.store, b.release_id, tmp_path / "withheld", leave_out=["private.jsonl"])
    with pytest.raises(PrivatePartMissingError):
        evaluate(b.store.open_folder(folder), b.options(), doors(endpoints))
    later = replace(sum_case(0), kind="exact@99")
    other = bench(tmp_path / "later", one_eval([later]))
    with pytest.raises(BadInputError, match="exact@99"):
        run(other, endpoints)
    assert endpoints.bodies == []
    only = evaluate(b.store.open_folder(folder), b.options(grade=False), doors(endpoints))
    assert only.asked == 3


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("gpt-x", "gpt-x"),
        ("org/model:1b", "org%2Fmodel%3A1b"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("a..b", "a..b"),
        ("\x00 é", "%00%20%C3%A9"),
    ],
)
def test_names_of_folders(text: str, name: str) -> None:
    """Percent-encoding as RFC 3986 has it; nothing leads out of the folder."""
    assert as_name(text) == name


def test_long_names_stay_apart() -> None:
    assert len(as_name("x" * 500)) <= 255
    assert as_name("x" * 500) != as_name("x" * 501)


def test_no_runtime_is_needed_for_built_in_evaluators(tmp_path: Path) -> None:
    """R117: a run needs neither network nor loader code; the runtime is not even asked for."""
    b = bench(tmp_path)
    assert evaluate(b.release, b.options(), doors(FakeEndpoints(answers), no_runtime)).summary is not None
