"""Compiling a commit: the release, its lock, and what happens when they differ."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.repos import add_commit, git
from tests.support.workshop import CASES, EVAL, Workshop, jsonl
from trunchbuild.core.lockfile import LockConflictError, LockFormatError
from trunchbuild.errors import BadInputError, ExitCode
from trunchbuild.flows.build import SealError


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_first_compile_keeps_the_release_and_writes_its_lock(workshop: Workshop) -> None:
    outcome = workshop.compile()
    assert (outcome.status, outcome.exit_code) == ("compiled", ExitCode.YES)
    files = workshop.store.open(outcome.release)
    assert [json.loads(line)["id"] for line in files.lines("cases.jsonl")] == ["a", "b", "c"]
    lock = tomllib.loads(workshop.lock.read_text())
    assert lock["release"]["digest"] == str(outcome.release)
    assert lock["source"]["commit"] == workshop.commit
    assert lock["source"]["tree"] == git(workshop.repo, "rev-parse", "main^{tree}")
    assert lock["source"]["requested"] == "main"
    assert lock["source"]["resolved-ref"] == "refs/heads/main"
    said = subprocess.run(
        ["sha256sum"], input=jsonl(*CASES.values()).encode(), capture_output=True, check=True
    ).stdout.decode()
    assert lock["evals"]["sums"]["sources"]["cases"]["sha256"] == said.split()[0]
    assert lock["evals"]["sums"]["case-count"] == 3


def test_the_evaluators_of_a_release_have_numbers_and_no_public_parameters(workshop: Workshop) -> None:
    files = workshop.store.open(workshop.compile().release)
    entry = files.manifest.eval("sums")
    assert [(use.kind, use.cases) for use in entry.evaluators] == [("exact@1", 3)]
    private = [json.loads(line) for line in files.lines("private.jsonl")]
    assert [line["evaluate"]["expected"] for line in private] == ["4", "5", "6"]
    assert b"expected" not in files.manifest_bytes + b"".join(files.lines("cases.jsonl"))


def test_the_lock_names_no_place_of_this_machine(workshop: Workshop, tmp_path: Path) -> None:
    workshop.compile()
    assert str(tmp_path) not in workshop.lock.read_text()
    provenance = workshop.store.provenance(workshop.store.releases()[0])
    assert provenance is not None
    assert str(tmp_path).encode() not in provenance
    record = json.loads(provenance)
    assert record["built"] == "2026-01-02T03:04:05Z"
    assert record["sandbox"] == "fake 1"
    assert record["versions"] == {"icu": "77.1", "node": "24.0.0", "python": "3.11.7", "trunchbuild": "0.1.0"}


def test_the_digest_does_not_depend_on_folder_umask_zone_or_time(workshop: Workshop, tmp_path: Path) -> None:
    elsewhere = Workshop(tmp_path / "elsewhere" / "deeper")
    old = os.umask(0o077)
    try:
        assert elsewhere.compile(elsewhere.commit).release == workshop.compile().release
    finally:
        os.umask(old)


def test_compiling_again_leaves_the_lock_as_it_is(workshop: Workshop) -> None:
    workshop.compile()
    before = workshop.lock.stat().st_mtime_ns, workshop.lock.read_bytes()
    outcome = workshop.compile(workshop.commit)
    assert outcome.status == "unchanged"
    assert (workshop.lock.stat().st_mtime_ns, workshop.lock.read_bytes()) == before


@pytest.mark.parametrize("name", ["q?.jsonl", 'a"b<c>|d.jsonl', "*.jsonl", "n\u00a0b.jsonl", "z\u200bw ü😀.jsonl"])
def test_whatever_name_a_source_has_what_compiles_verifies(tmp_path: Path, name: str) -> None:
    workshop = Workshop(tmp_path)
    workshop.runtime.exports = {"evals/sums.mjs": {**EVAL, "cases": f"../data/{name}"}}
    add_commit(workshop.repo, {f"data/{name}": jsonl(*CASES.values())})
    outcome = workshop.compile()
    assert workshop.verify(workshop.lock, rebuild=True, repo=workshop.address).outcome == "yes"
    assert tomllib.loads(workshop.lock.read_text())["evals"]["sums"]["sources"]["cases"]["path"] == f"data/{name}"
    assert workshop.store.open(outcome.release).manifest.evals[0].case_file is not None


class TestAnotherDigest:
    def test_it_is_explained_case_by_case_and_nothing_is_written(self, workshop: Workshop) -> None:
        workshop.compile()
        before = everything(workshop.locks), workshop.store.releases()
        workshop.change({**CASES["a"], "prompt": "3 + 1?"}, CASES["c"], {"id": "d", "prompt": "4?"})
        outcome = workshop.compile()
        assert (outcome.status, outcome.exit_code) == ("differs", ExitCode.NO)
        assert (everything(workshop.locks), workshop.store.releases()) == before
        found = outcome.difference
        assert found is not None
        assert [str(case) for case in found.added] == ["sums/d"]
        assert [str(case) for case in found.removed] == ["sums/b"]
        assert [(str(one.case), one.fields) for one in found.changed] == [("sums/a", ("prompt",))]
        assert any(change.place.endswith("release.digest") for change in outcome.changes)

    def test_update_accepts_it(self, workshop: Workshop) -> None:
        first = workshop.compile().release
        workshop.change(CASES["a"])
        outcome = workshop.compile(update=True)
        assert outcome.status == "updated"
        assert outcome.locked_release == first
        assert tomllib.loads(workshop.lock.read_text())["release"]["digest"] == str(outcome.release)
        assert set(workshop.store.releases()) == {first, outcome.release}

    def test_an_edited_value_of_an_equal_digest_is_a_difference(self, workshop: Workshop) -> None:
        workshop.compile()
        text = workshop.lock.read_text()
        workshop.lock.write_text(text.replace("case-count = 3\ncases-sha256", "case-count = 4\ncases-sha256"))
        outcome = workshop.compile()
        assert outcome.status == "differs"
        assert [(one.expected, one.got) for one in outcome.changes] == [("4", "3")]


class TestLocked:
    def test_an_equal_rebuild_says_yes_and_writes_nothing(self, workshop: Workshop, tmp_path: Path) -> None:
        workshop.compile()
        before = everything(tmp_path)
        outcome = workshop.compile(locked=True)
        assert (outcome.status, outcome.exit_code) == ("locked", ExitCode.YES)
        assert everything(tmp_path) == before

    def test_a_difference_is_explained_from_the_locked_commit(self, workshop: Workshop, tmp_path: Path) -> None:
        """In CI the store is empty: the locked release is built again from its own commit."""
        release = workshop.compile().release
        workshop.store.remove(release)
        workshop.store.collect()
        workshop.change(CASES["a"], CASES["c"], CASES["b"])
        before = everything(tmp_path)
        outcome = workshop.compile(locked=True)
        assert (outcome.status, outcome.exit_code) == ("differs", ExitCode.NO)
        assert outcome.difference is not None
        assert [str(case) for case in outcome.difference.moved] == ["sums/c"]
        assert everything(tmp_path) == before

    def test_a_missing_lock_is_named(self, workshop: Workshop) -> None:
        with pytest.raises(BadInputError, match=r"sums\.lock\.toml"):
            workshop.compile(locked=True)

    def test_how_the_commit_was_asked_for_is_no_difference(self, workshop: Workshop) -> None:
        workshop.compile("main", origin="https://example.invalid/sums.git")
        assert workshop.compile(workshop.commit, locked=True).status == "locked"
        assert tomllib.loads(workshop.lock.read_text())["source"]["url"] == "https://example.invalid/sums.git"

    def test_an_origin_that_is_stated_is_compared_and_stands_until_another_is(self, workshop: Workshop) -> None:
        first, second = "https://example.invalid/sums.git", "https://example.invalid/moved.git"
        workshop.compile("main", origin=first)
        assert workshop.compile("main", origin=first).status == "unchanged"
        outcome = workshop.compile("main", origin=second)
        assert (outcome.status, outcome.release) == ("differs", outcome.locked_release)
        assert [(one.expected, one.got) for one in outcome.changes] == [(first, second)]
        assert workshop.compile("main", origin=second, locked=True).status == "differs"
        assert workshop.compile("main", origin=second, update=True).status == "updated"
        workshop.change(CASES["a"])
        workshop.compile(update=True)
        assert tomllib.loads(workshop.lock.read_text())["source"]["url"] == second

    def test_other_tools_are_no_difference(self, workshop: Workshop) -> None:
        workshop.compile()
        workshop.runtime.named = {"node": "25.0.0"}
        assert workshop.compile(locked=True).status == "locked"


class TestBrokenLocks:
    @pytest.mark.parametrize("text", ["<<<<<<< HEAD\n", "lock-version = 99\n", "nonsense"])
    def test_they_are_named_and_only_update_replaces_them(self, workshop: Workshop, text: str) -> None:
        whole = workshop.compile()
        written = workshop.lock.read_bytes()
        workshop.lock.write_text(text)
        for options in ({}, {"locked": True}):
            with pytest.raises((LockConflictError, LockFormatError)):
                workshop.compile(**options)
            assert workshop.lock.read_text() == text
        assert workshop.compile(update=True).release == whole.release
        assert workshop.lock.read_bytes() == written


class TestSealed:
    def test_the_same_key_gives_the_same_lock(self, workshop: Workshop) -> None:
        workshop.compile(seal_key=b"k" * 32)
        assert tomllib.loads(workshop.lock.read_text())["release"]["sealed"] is True
        assert workshop.compile(seal_key=b"k" * 32, locked=True).status == "locked"
        other = workshop.compile(seal_key=b"l" * 32, locked=True)
        assert other.status == "differs"
        assert other.difference is not None
        assert other.difference.only_salts
        assert workshop.compile(locked=True).status == "differs"

    def test_a_seal_that_is_left_out_by_mistake_is_told(self, workshop: Workshop) -> None:
        workshop.compile(seal_key=b"k" * 32)
        assert workshop.compile(seal_key=b"k" * 32, update=True).warnings == ()
        assert any("was sealed" in warning for warning in workshop.compile(update=True).warnings)

    def test_inline_cases_beside_their_evaluator_are_refused(self, workshop: Workshop) -> None:
        inline = {"id": "sums", "title": "S", "cases": [{"id": "a", "prompt": "?", "data": 4}], "evaluate": None}
        workshop.runtime.exports = {"evals/sums.mjs": inline}
        workshop.runtime.functions = {"evals/sums.mjs": frozenset({"/evaluate"})}
        with pytest.raises(SealError, match=r"evals/sums\.mjs"):
            workshop.compile(seal_key=b"k" * 32)
        assert workshop.store.releases() == []
        files = workshop.store.open(workshop.compile().release)
        assert files.names() == [
            "cases.jsonl",
            "manifest.json",
            "modules/evals/sums.mjs",
            "private.jsonl",
            "provenance.json",
        ]
        use = files.manifest.eval("sums").evaluators[0]
        assert (use.kind, use.module, use.member) == ("custom@1", "evals/sums.mjs", "default.evaluate")


def test_a_benchmark_that_is_refused_leaves_nothing_behind(workshop: Workshop) -> None:
    workshop.runtime.exports = {"evals/sums.mjs": {**EVAL, "title": 7}}
    with pytest.raises(BadInputError):
        workshop.compile()
    assert workshop.store.releases() == []
    assert not workshop.locks.exists()
    assert workshop.store.usage().loose_objects == 0
