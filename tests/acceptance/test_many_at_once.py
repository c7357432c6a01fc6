"""Several processes on one store, lockfile or run: each succeeds or says what stands in its way, and all is whole.

The processes are real and begin at one moment; a round is repeated, since one round proves little.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.at_once import crowd
from tests.support.operations import OPERATIONS, PREPARATIONS, SUMS, prepare_two_commits
from tests.support.states import Collect, Compile, Evaluate, Import, whole
from trunchbuild.effects.store._disk import DiskStore

ROUNDS = 8


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="crowd-") as folder:
        yield Path(folder)


def rounds(place: Path, operation: str, prepared: str | None = None) -> Iterator[Path]:
    """Fresh copies of an operation's old state; `new` beside them is the state after it ran alone."""
    template = place / "old"
    PREPARATIONS[prepared or operation](template)
    shutil.copytree(template, place / "new")
    OPERATIONS[operation](place / "new")
    for number in range(ROUNDS):
        folder = place / f"round-{number}"
        shutil.copytree(template, folder)
        yield folder
        shutil.rmtree(folder)


def test_one_commit_compiled_by_three(place: Path) -> None:
    """Every one succeeds; the lockfile is the one that each would have written alone."""
    with crowd("compile", "compile", "compile") as three:
        for folder in rounds(place, "compile"):
            assert three.run(folder) == [(0, "")] * 3
            assert Compile(place / "old", place / "new").state(folder) == "new"
            assert list((folder / "home" / "store" / "tmp").iterdir()) == []


def test_two_commits_compiled_by_two(place: Path) -> None:
    """One is locked; the other is told what stands there, and overwrites nothing that it was not asked to."""
    prepare_two_commits(place / "old")
    with crowd("compile-first", "compile-second") as two:
        for number in range(ROUNDS):
            folder = place / f"round-{number}"
            shutil.copytree(place / "old", folder)
            answers = two.run(folder)
            assert sorted(code for code, _ in answers) == [0, 1], answers
            (refused,) = [text for code, text in answers if code]
            lock = (folder / "lockfiles" / "sums.lock.toml").read_text(encoding="utf-8")
            (locked,) = whole(DiskStore(folder / "home" / "store"))
            assert f'"{locked}"' in lock
            assert f"differs: expected {locked}, got sha256:" in refused


def test_collecting_while_others_compile(place: Path) -> None:
    """What is being written is never taken away; collecting waits for its turn or says that it is not."""
    with crowd("compile", "collect", "compile", "collect") as four:
        for folder in rounds(place, "compile"):
            answers = four.run(folder)
            assert [answers[0], answers[2]] == [(0, "")] * 2
            for code, text in (answers[1], answers[3]):
                assert code in {0, 4}, text
                assert (code == 0) == (text == "")
                assert code == 0 or "another process is writing to the store" in text
            assert Compile(place / "old", place / "new").state(folder) == "new"


def test_collecting_while_others_import(place: Path) -> None:
    with crowd("import", "collect", "import", "collect") as four:
        for folder in rounds(place, "import"):
            answers = four.run(folder)
            assert [answers[0], answers[2]] == [(0, "")] * 2, answers
            assert {code for code, _ in answers} <= {0, 4}
            assert Import(place / "old", place / "new").state(folder) == "new"


def test_collecting_at_once(place: Path) -> None:
    with crowd("collect", "collect", "collect") as three:
        for folder in rounds(place, "collect"):
            answers = three.run(folder)
            assert (0, "") in answers
            assert all(code == 0 or "another process" in text for code, text in answers), answers
            assert Collect(place / "old", place / "new").state(folder) == "new"


def test_one_run_by_two(place: Path) -> None:
    """One has it; the other is told so, or comes after it and finds it done. No trial is asked twice."""
    with crowd("evaluate", "evaluate") as two:
        for folder in rounds(place, "evaluate"):
            answers = two.run(folder)
            assert (0, "") in answers, answers
            for code, text in answers:
                assert code in {0, 4}, text
                assert code == 0 or "another process is running this run" in text, text
            assert Evaluate(place / "old", place / "new").state(folder) == "new"
            (replies,) = folder.glob("runs/**/replies.jsonl")
            ids = [json.loads(line)["id"] for line in replies.read_text(encoding="utf-8").splitlines()]
            assert len(ids) == len(set(ids)) == SUMS


def test_collecting_while_another_runs(place: Path) -> None:
    """A release that the store holds is needed, whoever reads it."""
    with crowd("evaluate", "collect-runs", "collect-runs") as three:
        for folder in rounds(place, "evaluate"):
            answers = three.run(folder)
            assert answers[0] == (0, "")
            assert {code for code, _ in answers} <= {0, 4}
            assert Evaluate(place / "old", place / "new").state(folder) == "new"


def test_a_release_that_is_forgotten_while_it_runs(place: Path) -> None:
    """Whoever takes a release away from a run gets what was asked for; the run ends well or says what is missing."""
    with crowd("evaluate", "forget") as two:
        for folder in rounds(place, "evaluate"):
            answers = two.run(folder)
            code, text = answers[0]
            assert code in {0, 1, 3, 4}, text
            assert (code == 0) == (text == "")
            assert answers[1][0] in {0, 4}, answers
            if code == 0:
                assert list(folder.glob("runs/**/summary.json"))
            assert whole(DiskStore(folder / "store")) == []
