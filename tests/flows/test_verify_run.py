"""Verify a run: an honest one says yes, and every way to cheat is named by its row and its check."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.endpoints import FakeEndpoints
from tests.flows.test_evaluate import STATUS_TABLE, Judge, answers, prompt
from tests.support.releases import add_release, benchmark
from tests.support.runs import Bench, bench, doors, grade_doors, jsonl, judged_eval, one_eval, sum_case, sums
from trunchbuild.core.canonical import digest_of
from trunchbuild.core.checks import CheckReport
from trunchbuild.core.ids import Digest
from trunchbuild.core.results import Row, read_results, results_digest
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.core.summary import summarize
from trunchbuild.effects.runtime.api import EvaluatorVerdict
from trunchbuild.flows.evaluate import evaluate
from trunchbuild.flows.import_replies import ImportOrder, import_replies
from trunchbuild.flows.verify_run import verify_run


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bench, Path]:
    """A run of ten sums in which every status occurs."""
    b = bench(tmp_path_factory.mktemp("whole"), sums(10))
    options = b.options(min_coverage=0.3)
    return b, evaluate(b.release, options, doors(FakeEndpoints(lambda body: STATUS_TABLE[prompt(body)][0]))).folder


@pytest.fixture
def run(whole: tuple[Bench, Path], tmp_path: Path) -> tuple[Bench, Path]:
    """A copy to tamper with."""
    return whole[0], Path(shutil.copytree(whole[1], tmp_path / "run"))


def check(b: Bench, folder: Path, claimed: Digest | None = None) -> CheckReport:
    return verify_run(folder, lambda _: b.release, grade_doors(), claimed=claimed)


def failed(report: CheckReport) -> set[int]:
    return {check.number for check in report.checks if check.outcome == "no"}


def named(report: CheckReport, number: int) -> set[str]:
    return {fault.place for check in report.checks if check.number == number for fault in check.faults}


def edit(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    rows = jsonl(path)
    change(rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def settle(b: Bench, folder: Path, spec: RunSpec | None = None) -> Digest:
    """What a cheat would do: make figures and digest of the summary fit the edited rows."""
    rows: list[Row] = [row for _, row in read_results((folder / "results.jsonl").read_bytes().splitlines(), "r")]
    summary = summarize(spec or b.spec(), rows, partial=False, min_coverage=0.3)
    (folder / "summary.json").write_text(json.dumps(summary.json()), encoding="utf-8")
    return results_digest(spec or b.spec(), rows)


def test_an_honest_run(run: tuple[Bench, Path]) -> None:
    b, folder = run
    stated = Digest.parse(json.loads((folder / "summary.json").read_text())["results_digest"])
    report = check(b, folder, stated)
    assert report.outcome == "yes"
    assert [made.number for made in report.checks] == list(range(1, 10))
    assert report.digest == str(stated)


def test_without_a_claim_the_answer_says_so(run: tuple[Bench, Path]) -> None:
    report = check(*run)
    assert report.outcome == "yes"
    assert "nobody claimed" in report.notes[0]


def test_replies_alone_are_enough(run: tuple[Bench, Path]) -> None:
    """Without the journal, as a stranger gets a run."""
    b, folder = run
    (folder / "journal.sqlite").unlink()
    assert check(b, folder).outcome == "yes"


def test_a_changed_reply(run: tuple[Bench, Path]) -> None:
    """R114: a wrong answer is made right after the fact, everything else fitted: the row is named."""
    b, folder = run
    (folder / "journal.sqlite").unlink()
    edit(folder / "replies.jsonl", lambda rows: rows[8].update(response="9"))
    report = check(b, folder)
    assert failed(report) == {5, 6}
    assert named(report, 5) == named(report, 6) == {"sums/q8"}


def test_a_changed_reply_is_also_seen_against_the_journal(run: tuple[Bench, Path]) -> None:
    b, folder = run
    edit(folder / "replies.jsonl", lambda rows: rows[0].update(response="1 "))
    assert named(check(b, folder), 9) == {"sums/q0"}


def test_a_reply_that_the_journal_does_not_know(run: tuple[Bench, Path]) -> None:
    """The journal of a run that asked less."""
    b, folder = run
    other = Bench(b.store, b.release_id, folder.parent / "other")
    options = other.options(spec=other.spec(), grade=False)
    shutil.copy(evaluate(b.release, options, doors(FakeEndpoints(answers))).folder / "journal.sqlite", folder)
    assert 9 in failed(check(b, folder))


@pytest.mark.parametrize("failure", ["{", "[]", "{}", '{"kind":"odd","message":"x"}', '{"kind":"http","message":3}'])
def test_a_journal_with_a_failure_of_no_form(run: tuple[Bench, Path], failure: str) -> None:
    b, folder = run
    database = sqlite3.connect(folder / "journal.sqlite")
    database.execute("UPDATE step SET failure = ? WHERE id = 'q0'", (failure,))
    database.commit()
    database.close()
    assert failed(check(b, folder)) == {9}


def test_swapped_verdicts_with_the_totals_kept(run: tuple[Bench, Path]) -> None:
    """R114: one wrong answer becomes right, one right answer wrong; totals and digest fitted."""
    b, folder = run

    def swap(rows: list[dict[str, Any]]) -> None:
        rows[0].update(passed=False, score=0)
        rows[8].update(passed=True, score=1)

    edit(folder / "results.jsonl", swap)
    settle(b, folder)
    report = check(b, folder)
    assert failed(report) == {6}
    assert named(report, 6) == {"sums/q0", "sums/q8"}


def test_a_score_that_is_not_the_evaluators(run: tuple[Bench, Path]) -> None:
    b, folder = run
    edit(folder / "results.jsonl", lambda rows: rows[0].update(score=0.5))
    settle(b, folder)
    assert named(check(b, folder), 6) == {"sums/q0"}


def test_a_dropped_case(run: tuple[Bench, Path]) -> None:
    """A wrong answer vanishes from every file."""
    b, folder = run
    (folder / "journal.sqlite").unlink()
    for name in ("results.jsonl", "replies.jsonl"):
        edit(folder / name, lambda rows: rows.pop(8))
    settle(b, folder)
    report = check(b, folder)
    assert failed(report) == {3}
    assert named(report, 3) == {"sums/q8"}


def test_a_duplicated_case(run: tuple[Bench, Path]) -> None:
    """A right answer is counted twice."""
    b, folder = run
    for name in ("results.jsonl", "replies.jsonl"):
        edit(folder / name, lambda rows: rows.append(rows[0]))
    report = check(b, folder)
    assert 3 in failed(report)
    assert named(report, 3) == {"sums/q0"}


def test_a_strange_case(run: tuple[Bench, Path]) -> None:
    """A case of no release."""
    b, folder = run
    for name in ("results.jsonl", "replies.jsonl"):
        edit(folder / name, lambda rows: rows.append({**rows[0], "id": "q99"}))
    settle(b, folder)
    assert named(check(b, folder), 3) == {"sums/q99"}


@pytest.mark.parametrize("status", ["truncated", "failed", "empty", "grader_error", "unsupported"])
def test_a_wrong_answer_relabelled(run: tuple[Bench, Path], status: str) -> None:
    """Nobody turns a wrong answer into an unscored one."""
    b, folder = run
    edit(folder / "results.jsonl", lambda rows: rows[8].update(status=status, passed=None, score=None))
    settle(b, folder)
    report = check(b, folder)
    assert named(report, 6 if status == "grader_error" else 5) == {"sums/q8"}
    assert report.outcome == "no"


def test_a_truncated_reply_relabelled_as_right(run: tuple[Bench, Path]) -> None:
    b, folder = run
    edit(folder / "results.jsonl", lambda rows: rows[2].update(status="scored", passed=True, score=1))
    settle(b, folder)
    assert named(check(b, folder), 5) == {"sums/q2"}


def test_a_prettier_summary(run: tuple[Bench, Path]) -> None:
    """The figures alone are edited."""
    b, folder = run
    summary = json.loads((folder / "summary.json").read_text())
    summary["figures"]["accuracy"]["value"] = 0.99
    (folder / "summary.json").write_text(json.dumps(summary))
    report = check(b, folder)
    assert failed(report) == {7}
    assert named(report, 7) == {"summary.json/figures/accuracy/value"}


def test_another_digest_in_the_summary(run: tuple[Bench, Path]) -> None:
    b, folder = run
    summary = json.loads((folder / "summary.json").read_text())
    summary["results_digest"] = "sha256:" + "ab" * 32
    (folder / "summary.json").write_text(json.dumps(summary))
    assert failed(check(b, folder)) == {8}


def test_another_digest_claimed(run: tuple[Bench, Path]) -> None:
    report = check(*run, Digest("ab" * 32))
    assert failed(report) == {8}
    (found,) = [made for made in report.checks if made.number == 8]
    assert found.expected == "sha256:" + "ab" * 32


def test_another_release(run: tuple[Bench, Path], tmp_path: Path) -> None:
    """The same questions in another version are another release."""
    b, folder = run
    other = add_release(b.store, benchmark(sums(10), version="2.0.0"))
    report = verify_run(folder, lambda _: b.store.open(other), grade_doors())
    assert failed(report) == {2}


def test_a_release_that_is_not_here(run: tuple[Bench, Path]) -> None:
    """It cannot be checked: neither yes nor no."""
    report = verify_run(run[1], lambda _: None, grade_doors())
    assert report.outcome == "open"
    assert {made.number for made in report.checks if made.outcome == "open"} == set(range(2, 10))


@pytest.mark.parametrize(
    "change",
    [
        {"run": "sha256:" + "ab" * 32},
        {"imported": True},
        {"type": "trunchbuild.run-file/v2"},
        {"surplus": 1},
    ],
)
def test_an_edited_run_file(run: tuple[Bench, Path], change: dict[str, Any]) -> None:
    """R81: also a format that this build does not read."""
    b, folder = run
    stated = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**stated, **change}))
    assert failed(check(b, folder)) == {1}


def test_a_setting_changed_afterwards(run: tuple[Bench, Path]) -> None:
    """Another temperature in the spec, run id fitted: requests and digest do not follow."""
    b, folder = run
    stated = json.loads((folder / "run.json").read_text())
    stated["spec"]["request"]["temperature"] = 1
    stated["run"] = str(digest_of(stated["spec"]))
    (folder / "run.json").write_text(json.dumps(stated))
    (folder / "journal.sqlite").unlink()
    report = check(b, folder)
    assert {4, 7, 8} <= failed(report)
    assert "sums/q0" in named(report, 4)


def test_a_partial_run_that_calls_itself_whole(tmp_path: Path) -> None:
    b = bench(tmp_path, sums(4))
    spec = b.spec(limit=2)
    folder = evaluate(b.release, b.options(spec), doors(FakeEndpoints(answers))).folder
    report = check(b, folder)
    assert report.outcome == "yes"
    assert any("partial" in note for note in report.notes)
    stated = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**stated, "partial": False}))
    assert failed(check(b, folder)) == {3}


@pytest.mark.parametrize("name", ["results.jsonl", "replies.jsonl", "summary.json"])
def test_files_that_are_broken(run: tuple[Bench, Path], name: str) -> None:
    b, folder = run
    (folder / name).write_bytes((folder / name).read_bytes()[:-20])
    assert 3 in failed(check(b, folder))


def test_a_missing_results_file(run: tuple[Bench, Path]) -> None:
    b, folder = run
    (folder / "results.jsonl").unlink()
    assert failed(check(b, folder)) == {3}


def test_replies_that_were_not_kept_leave_checks_open(tmp_path: Path) -> None:
    b = bench(tmp_path)
    folder = evaluate(b.release, b.options(save_replies=False), doors(FakeEndpoints(answers))).folder
    report = check(b, folder)
    assert report.outcome == "open"
    assert {made.number for made in report.checks if made.outcome == "open"} == {4, 5, 6}


@pytest.mark.parametrize(
    "change",
    [
        {"status": "truncated"},  # and still passed
        {"status": "refused"},
        {"status": "failed", "passed": None},  # and still a score
        {"score": 1.5},
        {"score": -1},
    ],
)
def test_without_replies_a_row_must_still_agree_with_itself(tmp_path: Path, change: dict[str, Any]) -> None:
    b = bench(tmp_path)
    folder = evaluate(b.release, b.options(save_replies=False), doors(FakeEndpoints(answers))).folder
    edit(folder / "results.jsonl", lambda rows: rows[0].update(change))
    settle(b, folder)
    assert named(check(b, folder), 5) == {"sums/q0"}


def test_a_case_that_needs_an_environment_has_no_reply(tmp_path: Path) -> None:
    b = bench(tmp_path, one_eval([sum_case(0), sum_case(1, sandbox={"required": True})]))
    folder = evaluate(b.release, b.options(), doors(FakeEndpoints(answers))).folder
    assert check(b, folder).outcome == "yes"
    edit(folder / "results.jsonl", lambda rows: rows[0].update(status="needs_environment", passed=None, score=None))
    settle(b, folder)
    assert "sums/q0" in named(check(b, folder), 5)


def test_verdicts_of_the_repositorys_evaluator(tmp_path: Path) -> None:
    """Recomputed by running it again; another answer is a difference by name."""
    code = "def evaluate(call):\n    return {'passed': True, 'score': 1, 'message': None}\n"
    b = bench(tmp_path, judged_eval(2), modules={"evaluators/half.py": code})

    def judge(score: float) -> Callable[[], Any]:
        return lambda: Judge([EvaluatorVerdict(True, 1.0, None), EvaluatorVerdict(True, score, None)])

    folder = evaluate(b.release, b.options(), doors(FakeEndpoints(answers), judge(0.5))).folder
    same = verify_run(folder, lambda _: b.release, grade_doors(judge(0.5)))
    assert same.outcome == "yes"
    other = verify_run(folder, lambda _: b.release, grade_doors(judge(0.75)))
    assert failed(other) == {6}
    assert named(other, 6) == {"judged/j1"}


def imported(b: Bench, folder: Path, *rows: object, **changes: Any):
    source = folder.parent / f"{folder.name}.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    order = ImportOrder(source, folder, (), changes.get("model"), None, changes.get("min_coverage", 0.8), {})
    return import_replies(b.release, order, grade_doors())


def test_imported_replies_are_a_run_like_any_other(tmp_path: Path) -> None:
    """Marked as imported; it verifies, and grades again to the same digest."""
    b = bench(tmp_path)
    rows = [{"id": f"q{n}", "response": str(n + 1)} for n in range(2)] + [{"id": "q2", "response": "7"}]
    summary = imported(b, tmp_path / "run", *rows, model="elsewhere-1")
    assert (summary.total.passed, summary.total.all) == (2, 3)
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["imported"] is True
    report = check(b, tmp_path / "run", summary.digest)
    assert report.outcome == "yes"
    assert any("imported" in note for note in report.notes)


def test_a_missing_imported_case_is_failed(tmp_path: Path) -> None:
    """Not wrong: coverage says that it is missing."""
    b = bench(tmp_path)
    summary = imported(b, tmp_path / "run", {"id": "q0", "response": "1"}, min_coverage=0.3)
    assert [row.status for row in summary.rows] == ["scored", "failed", "failed"]
    assert summary.total.accuracy.value == 1
    assert summary.total.accuracy_all.value == 1 / 3
    assert check(b, tmp_path / "run").outcome == "yes"


def test_an_import_never_overwrites_a_run(tmp_path: Path) -> None:
    b = bench(tmp_path)
    imported(b, tmp_path / "run", {"id": "q0", "response": "1"})
    before = (tmp_path / "run" / "results.jsonl").read_bytes()
    with pytest.raises(Exception, match="holds a run already"):
        imported(b, tmp_path / "run", {"id": "q1", "response": "2"})
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == before


def test_our_own_replies_can_be_imported(run: tuple[Bench, Path], tmp_path: Path) -> None:
    """Every status comes out as before, the failed call stays failed."""
    b, folder = run
    order = ImportOrder(folder / "replies.jsonl", tmp_path / "again", (), None, None, 0.3, {})
    summary = import_replies(b.release, order, grade_doors())
    before = [row["status"] for row in jsonl(folder / "results.jsonl")]
    after: list[str] = [row.status for row in summary.rows]
    assert after == ["failed" if status == "unsupported" else status for status in before]


def test_a_reply_of_thinking_alone_stays_unscored_when_imported(tmp_path: Path) -> None:
    b = bench(tmp_path)
    summary = imported(b, tmp_path / "run", {"id": "q0", "response": "<think>1", "finish_reason": "stop"})
    assert summary.rows[0].status == "truncated"
