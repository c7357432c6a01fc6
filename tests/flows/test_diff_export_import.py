"""Releases compared case by case, written as folders and read again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from tests.support.releases import (
    PIN,
    SUMS,
    add_release,
    benchmark,
    case,
    export,
    files_of,
    graded_eval,
    transformed_eval,
)
from trunchbuild.core.ids import CaseId, ReleaseId
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.errors import ExitCode
from trunchbuild.flows.diff import case_pairs, diff_releases
from trunchbuild.flows.export import export_release
from trunchbuild.flows.import_ import import_folder
from trunchbuild.flows.show import show_case, summarize


class TestDiff:
    def test_cases_are_compared_by_id_and_field(self, store: DiskStore, release: ReleaseId) -> None:
        cases = [
            case("sums", "add-1", "1 + 3?", "4", tags={"level": 2}),
            case("sums", "add-3", "😀 + 1?", "6", limits={"maxOutputTokens": 16}),
            case("sums", "add-4", "4?", "4"),
        ]
        other = add_release(store, benchmark(transformed_eval(cases), graded_eval(), version="1.1.0"))
        found = diff_releases(store.open(release), store.open(other))
        assert [str(one) for one in found.added] == ["sums/add-4"]
        assert [str(one) for one in found.removed] == ["sums/add-2"]
        assert [(str(one.case), one.fields) for one in found.changed] == [
            ("sums/add-1", ("tags/level",)),
            ("sums/add-3", ("evaluate/expected",)),
        ]
        assert found.unchanged == 2
        assert [(one.field, one.old, one.new) for one in found.facts] == [("benchmark/version", "1.0.0", "1.1.0")]

    def test_the_same_cases_in_another_order_are_said_to_be_that(self, store: DiskStore, release: ReleaseId) -> None:
        """R05: not only that digests differ, but that the order does."""
        turned = add_release(store, benchmark(transformed_eval([SUMS[0], SUMS[2], SUMS[1]]), graded_eval()))
        found = diff_releases(store.open(release), store.open(turned))
        assert [str(one) for one in found.moved] == ["sums/add-3"]
        assert (found.added, found.removed, found.changed) == ((), (), ())
        assert not found.same_cases

    def test_a_release_does_not_differ_from_itself(self, store: DiskStore, release: ReleaseId) -> None:
        found = diff_releases(store.open(release), store.open(release))
        assert found.same
        assert found.unchanged == 5

    def test_another_commit_of_equal_cases_keeps_the_cases_digest(self, store: DiskStore, release: ReleaseId) -> None:
        moved = replace(transformed_eval(), module=replace(transformed_eval().module, path="moved/sums.js"))
        again = add_release(store, benchmark(moved, graded_eval()), pin=replace(PIN, commit="4" * 40, tree="5" * 40))
        assert again != release
        one, other = summarize(store.open(release)), summarize(store.open(again))
        assert one.cases_sha256 == other.cases_sha256
        changed = add_release(store, benchmark(transformed_eval(SUMS[:2]), graded_eval()))
        assert summarize(store.open(changed)).cases_sha256 != one.cases_sha256

    def test_a_withheld_side_is_compared_in_what_is_public(
        self, store: DiskStore, folder: Path, release: ReleaseId
    ) -> None:
        (folder / "private.jsonl").unlink()
        found = diff_releases(store.open_folder(folder), store.open(release))
        assert found.same
        assert not found.private_compared

    def test_withheld_parts_that_differ_are_no_equal_releases(
        self, store: DiskStore, release: ReleaseId, tmp_path: Path
    ) -> None:
        sealed = add_release(store, seal_key=b"k" * 32)
        folders = [export(store, one, tmp_path / one.hex, leave_out=["private.jsonl"]) for one in (release, sealed)]
        found = diff_releases(*map(store.open_folder, folders))
        assert not found.same
        before, after = (store.open(one).manifest.file("private.jsonl").sha256 for one in (release, sealed))
        assert [(one.field, one.old, one.new) for one in found.facts] == [("private.jsonl", before, after)]


class UserFiles:
    """The user's files, of which exporting needs three calls."""

    def exists(self, path: Path) -> bool:
        return path.exists()

    def is_folder(self, path: Path) -> bool:
        return path.is_dir()

    def write_folder(self, folder: Path, files) -> None:
        for file in files:
            assert file.path.is_relative_to(folder)
            data = b"".join(file.content)
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_bytes(data)


class TestExportAndImport:
    def test_export_then_import_elsewhere_is_the_same_release(
        self, store: DiskStore, release: ReleaseId, tmp_path: Path
    ) -> None:
        target = tmp_path / "out"
        export_release(
            store.open(release),
            target,
            store=store,
            user_files=UserFiles(),
            without_private=False,  # type: ignore[arg-type]
        )
        other = DiskStore(tmp_path / "other")
        report = import_folder(target, release, store=other)
        assert report.outcome == "yes"
        assert other.releases() == [release]
        assert list(case_pairs(other.open(release))) == list(case_pairs(store.open(release)))

    def test_a_folder_that_fails_is_not_added(self, store: DiskStore, folder: Path, tmp_path: Path) -> None:
        (folder / "extra").write_bytes(b"")
        other = DiskStore(tmp_path / "other")
        assert import_folder(folder, None, store=other).exit_code == ExitCode.NO
        assert other.releases() == []

    def test_export_without_the_private_part_withholds_it(
        self, store: DiskStore, release: ReleaseId, tmp_path: Path
    ) -> None:
        target = tmp_path / "out"
        export_release(
            store.open(release),
            target,
            store=store,
            user_files=UserFiles(),
            without_private=True,  # type: ignore[arg-type]
        )
        assert "private.jsonl" not in files_of(target)
        other = DiskStore(tmp_path / "other")
        assert import_folder(target, release, store=other).exit_code == ExitCode.YES
        assert not other.open(release).has_private()


def test_a_case_is_shown_without_its_answer_unless_asked(store: DiskStore, release: ReleaseId) -> None:
    public = show_case(store.open(release), CaseId("sums", "add-1"), private=False)
    assert "expected" not in json.dumps(public)
    line, secret = SUMS[0].public, SUMS[0].private
    assert public["caseDigest"] == "sha256:" + hashlib.sha256(line + b"\n" + secret).hexdigest()
    both = show_case(store.open(release), CaseId("sums", "add-1"), private=True)
    assert both["private"] == json.loads(secret)
