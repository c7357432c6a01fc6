"""Verification of releases: every flipped byte, swapped line, extra, missing or withheld file is found and named."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import ExitStack, chdir
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.releases import (
    files_of,
    rehashed,
)
from trunchbuild.core.checks import CheckReport
from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.lockfile import make_lock
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.effects.store.api import StoreError
from trunchbuild.errors import BadInputError, ExitCode
from trunchbuild.flows.check_release import Claim, LockClaim, check_release
from trunchbuild.flows.show import summarize


def verified(store: DiskStore, folder: Path, claimed: ReleaseId | None) -> CheckReport:
    claims = [] if claimed is None else [Claim(claimed, "--digest")]
    checks, found = check_release(store.open_folder_raw(folder), claims, None)
    return CheckReport(str(folder), str(found.digest), tuple(checks))


def failing(report: CheckReport) -> list[int]:
    return [check.number for check in report.checks if check.outcome == "no"]


class MemoryFiles:
    """A release's files in memory."""

    place = "memory"

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def names(self) -> list[str]:
        return sorted(self.files)

    def odd(self) -> list[str]:
        return []

    def open(self, path: str):
        import io  # noqa: PLC0415

        if path not in self.files:
            raise BadInputError("no such file", place=path)
        return io.BytesIO(self.files[path])

    def lines(self, path: str):
        with self.open(path) as file:
            yield from file


class LockedFiles(MemoryFiles):
    """The same, of which the system does not let us read some."""

    def __init__(self, files: dict[str, bytes], locked: str) -> None:
        super().__init__(files)
        self.locked = locked

    def open(self, path: str):
        if path == self.locked:
            raise StoreError("cannot read: Permission denied", place=path)
        return super().open(path)


class TestNotReadable:
    """What the system does not let us read is not known to be wrong: open, exit code 4."""

    @pytest.mark.parametrize(
        ("name", "still_open"),
        [
            ("manifest.json", [1, 2, 3, 4, 6]),
            ("cases.jsonl", [2, 3, 4]),
            ("private.jsonl", [2, 3, 4]),
            ("modules/tools/add.js", [2]),
            ("provenance.json", [2]),
        ],
    )
    def test_its_checks_stay_open(self, folder: Path, release: ReleaseId, name: str, still_open: list[int]) -> None:
        files = files_of(folder)
        checks, _ = check_release(LockedFiles(files, name), [Claim(release, "--digest")], None)
        report = CheckReport("locked", None, tuple(checks))
        assert [check.number for check in checks if check.outcome == "open"] == still_open
        assert report.exit_code == ExitCode.MACHINE
        assert "Permission denied" in (checks[still_open[0] > 1].note or "")

    def test_a_fault_beside_it_is_still_a_no(self, folder: Path, release: ReleaseId) -> None:
        files = {**files_of(folder), "extra": b""}
        checks, _ = check_release(LockedFiles(files, "cases.jsonl"), [Claim(release, "--digest")], None)
        report = CheckReport("locked", None, tuple(checks))
        assert failing(report) == [2]
        assert report.exit_code == ExitCode.NO


class TestHostileFolders:
    def test_a_line_without_end_fills_no_memory(self, store: DiskStore, folder: Path, release: ReleaseId) -> None:
        """A sparse file of two gibibytes; the limit on this process' memory would stop one that reads it whole."""
        with (folder / "cases.jsonl").open("r+b") as file:
            file.truncate(2 << 30)
        report = verified(store, folder, release)
        assert failing(report)[0] == 2
        assert "a line too long" in str(report.checks[1].faults[0])

    def test_a_file_without_end_is_left(self, store: DiskStore, folder: Path, release: ReleaseId) -> None:
        with (folder / "modules/tools/add.js").open("r+b") as file:
            file.truncate(1 << 40)
        report = verified(store, folder, release)
        assert failing(report) == [2]
        assert "or more" in str(report.checks[1].faults[0])

    def test_folders_inside_folders_end(self, store: DiskStore, folder: Path, release: ReleaseId) -> None:
        (folder / "/".join("d" * 100)).mkdir(parents=True)
        assert failing(verified(store, folder, release)) == []
        inner = folder
        with ExitStack() as stack:
            # Deeper than Python's own removal can follow: pytest could not clean up after itself.
            stack.callback(subprocess.run, ["rm", "-rf", str(folder / "e")], check=True)
            for _ in range(1500):
                (Path() if inner != folder else folder).joinpath("e").mkdir()
                stack.enter_context(chdir(inner / "e" if inner == folder else "e"))
                inner = Path("e")
            report = verified(store, folder, release)
        assert failing(report) == [1]
        assert "no release folder" in str(report.checks[0].faults[0])


class TestWhole:
    def test_an_untouched_release_says_yes_to_every_check(
        self, store: DiskStore, folder: Path, release: ReleaseId
    ) -> None:
        report = verified(store, folder, release)
        assert [(check.number, check.outcome) for check in report.checks] == [(n, "yes") for n in (1, 2, 3, 4, 6)]
        assert report.exit_code == ExitCode.YES

    def test_sha256sum_and_jq_alone_confirm_it(self, folder: Path, release: ReleaseId) -> None:
        said = subprocess.run(["sha256sum", "manifest.json"], cwd=folder, capture_output=True, check=True, text=True)
        assert said.stdout.split()[0] == release.hex
        command = """jq -r '.files[] | "\\(.sha256)  \\(.path)"' manifest.json | sha256sum -c"""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], cwd=folder, capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(": OK") == 4
        (folder / "private.jsonl").unlink()
        assert subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=False).returncode != 0
        some = subprocess.run(
            ["bash", "-c", f"{command} --ignore-missing"], cwd=folder, capture_output=True, check=False, text=True
        )
        assert some.returncode == 0
        assert some.stdout.count(": OK") == 3

    def test_a_withheld_private_part_still_verifies(self, store: DiskStore, folder: Path, release: ReleaseId) -> None:
        (folder / "private.jsonl").unlink()
        report = verified(store, folder, release)
        assert report.exit_code == ExitCode.YES
        assert "withheld" in (report.checks[1].note or "")
        (folder / "cases.jsonl").unlink()
        assert failing(verified(store, folder, release)) == [2, 3]

    def test_a_bare_folder_says_which_digest_it_is_and_that_nobody_claimed_it(
        self, store: DiskStore, folder: Path, release: ReleaseId
    ) -> None:
        (folder / "provenance.json").unlink()
        report = verified(store, folder, None)
        assert report.exit_code == ExitCode.YES
        assert report.checks[0].got == str(release)
        assert "nobody claimed" in (report.checks[0].note or "")


class TestAltered:
    """R112: one changed byte, wherever it is, is found, and the check that found it is named."""

    def test_every_flipped_byte_of_every_file_is_found(self, folder: Path, release: ReleaseId) -> None:
        whole = files_of(folder)
        assert sum(map(len, whole.values())) > 2500
        for name, data in whole.items():
            for position in range(len(data)):
                flipped = bytearray(data)
                flipped[position] ^= 1 << (position % 8)
                raw = MemoryFiles({**whole, name: bytes(flipped)})
                checks, _ = check_release(raw, [Claim(release, "--digest")], None)
                failed = {check.number for check in checks if check.outcome == "no"}
                expected = 1 if name == "manifest.json" else 2
                assert expected in failed, f"{name}:{position}"

    def test_a_flipped_byte_of_a_bare_folder_is_found_too(self, folder: Path) -> None:
        """Nobody claims the digest; the provenance beside the manifest names another one."""
        whole = files_of(folder)
        for position in range(len(whole["manifest.json"])):
            flipped = bytearray(whole["manifest.json"])
            flipped[position] ^= 1 << (position % 7)
            checks, _ = check_release(MemoryFiles({**whole, "manifest.json": bytes(flipped)}), [], None)
            assert checks[0].outcome == "no", position

    def test_two_swapped_lines_fail_size_free_checks(self, store: DiskStore, folder: Path, release: ReleaseId) -> None:
        path = folder / "cases.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
        report = verified(store, folder, release)
        assert report.exit_code == ExitCode.NO
        assert failing(report) == [2, 3, 4]
        assert report.checks[3].faults[0].place == "private.jsonl:1"
        assert (report.checks[3].expected, report.checks[3].got) == ("sums/add-2", "sums/add-1")

    @pytest.mark.parametrize("name", ["extra.txt", "modules/extra.js", ".hidden", "cases.jsonl.bak"])
    def test_an_extra_file_is_named(self, store: DiskStore, folder: Path, release: ReleaseId, name: str) -> None:
        (folder / name).write_bytes(b"")
        report = verified(store, folder, release)
        assert failing(report) == [2]
        assert report.checks[1].faults[0].place == name

    def test_a_link_is_named(self, store: DiskStore, folder: Path, release: ReleaseId) -> None:
        (folder / "modules" / "up").symlink_to("../..")
        report = verified(store, folder, release)
        assert failing(report) == [2]
        assert report.checks[1].faults[0].place == "modules/up"

    @pytest.mark.parametrize("name", ["cases.jsonl", "modules/tools/add.js"])
    def test_a_missing_file_is_named(self, store: DiskStore, folder: Path, release: ReleaseId, name: str) -> None:
        (folder / name).unlink()
        report = verified(store, folder, release)
        assert 2 in failing(report)
        assert report.checks[1].faults[0].place == name
        assert report.exit_code == ExitCode.NO

    def test_without_a_manifest_nothing_can_be_checked(
        self, store: DiskStore, folder: Path, release: ReleaseId
    ) -> None:
        (folder / "manifest.json").unlink()
        report = verified(store, folder, release)
        assert [check.outcome for check in report.checks] == ["no", "open", "open", "open", "open"]
        assert report.exit_code == ExitCode.NO

    def test_another_digest_than_the_claimed_one_gives_both(
        self, store: DiskStore, folder: Path, release: ReleaseId
    ) -> None:
        report = verified(store, folder, Digest("0" * 64))
        assert failing(report) == [1]
        assert (report.checks[0].expected, report.checks[0].got) == ("sha256:" + "0" * 64, str(release))

    def test_a_last_line_without_a_line_feed_is_no_line(self, store: DiskStore, folder: Path) -> None:
        path = folder / "cases.jsonl"
        path.write_bytes(path.read_bytes()[:-1])
        assert {2, 3} <= set(failing(verified(store, folder, None)))


class TestLines:
    """Check (4), on releases whose hashes all fit."""

    def test_nothing_changed_is_still_a_release(self, store: DiskStore, folder: Path, release: ReleaseId) -> None:
        rehashed(folder, lambda public, private: None)
        report = verified(store, folder, release)
        assert report.exit_code == ExitCode.YES

    @pytest.mark.parametrize(
        ("change", "place", "message"),
        [
            (lambda a, b: a.__setitem__(1, a[1].replace(b"add-2", b"ADD-1")), "cases.jsonl:2", "not unique"),
            (lambda a, b: a.__setitem__(0, a[0].replace(b'"prompt"', b'"promt"')), "cases.jsonl:1", "missing"),
            (
                lambda a, b: a.__setitem__(0, a[0].replace(b'{"eval"', b'{"answer":4,"eval"')),
                "cases.jsonl:1/answer",
                "",
            ),
            (lambda a, b: a.__setitem__(0, a[0].replace(b"{", b"{ ", 1)), "cases.jsonl:1", "canonical"),
            (lambda a, b: a.__setitem__(0, b"nonsense"), "cases.jsonl:1:1", ""),
            (lambda a, b: a.__setitem__(0, b""), "cases.jsonl:1", ""),
            (lambda a, b: a.__setitem__(0, a[0].replace(b'"sums"', b'"subs"')), "cases.jsonl:1", "does not list"),
            (lambda a, b: b.__setitem__(0, b[0].replace(b"exact@1", b"exact@2")), "eval sums", "evaluators"),
            (lambda a, b: b.__setitem__(0, b[0].replace(b"exact@1", b"exact")), "private.jsonl:1/evaluate/kind", ""),
            (lambda a, b: b.__setitem__(0, b[1]), "private.jsonl:1", "another case"),
            (lambda a, b: b.pop(), "cases.jsonl:5", "pair"),
            (lambda a, b: (a.pop(), b.pop()), "eval words", "case count"),
            (lambda a, b: (a.append(a.pop(0)), b.append(b.pop(0))), "cases.jsonl", "order of evals"),
            (lambda a, b: b.__setitem__(0, b[0][:-1] + b',"salt":"' + b"0" * 64 + b'"}'), "private.jsonl", "salts"),
            (lambda a, b: a.__setitem__(3, a[3][:-1] + b',"tools":["sub"]}'), "cases.jsonl:4", "tool"),
            (
                lambda a, b: b.__setitem__(0, b[0].replace(b'"expected":"4",', b"")),
                "private.jsonl:1 /evaluate",
                "needs",
            ),
            (lambda a, b: b.__setitem__(0, b[0].replace(b'"4"', b"4")), "private.jsonl:1 /evaluate/expected", "string"),
            (lambda a, b: b.__setitem__(0, b[0].replace(b'"4"', b"[]")), "private.jsonl:1 /evaluate/expected", "empty"),
            (
                lambda a, b: b.__setitem__(0, b[0].replace(b'"kind"', b'"ignorecase":true,"kind"')),
                "private.jsonl:1 /evaluate/ignorecase",
                "unknown parameter",
            ),
            (
                lambda a, b: b.__setitem__(3, b[3].replace(b"#default", b"#other")),
                "private.jsonl:4",
                "another function",
            ),
            (
                lambda a, b: b.__setitem__(3, b[3].replace(b'Path":"eval', b'Path":"uval')),
                "private.jsonl:4",
                "another function",
            ),
        ],
    )
    def test_each_fault_is_found_at_its_place(
        self,
        store: DiskStore,
        folder: Path,
        change: Callable[[list[bytes], list[bytes]], None],
        place: str,
        message: str,
    ) -> None:
        rehashed(folder, change)
        report = verified(store, folder, None)
        assert failing(report) == [4]
        faults = report.checks[3].faults
        assert any(fault.place.startswith(place) and message in str(fault) for fault in faults), faults

    def test_an_evaluator_of_a_later_build_cannot_be_graded_here(self, store: DiskStore, folder: Path) -> None:
        path = folder / "manifest.json"
        path.write_bytes(path.read_bytes().replace(b"exact@1", b"exact@9"))
        (folder / "provenance.json").unlink()
        report = verified(store, folder, None)
        assert 6 in failing(report)
        assert (report.checks[4].expected, report.checks[4].got) == ("exact@1", "exact@9")


class TestLock:
    def lock(self, store: DiskStore, release: ReleaseId):
        files = store.open(release)
        return make_lock(
            files.manifest,
            release,
            summarize(files).cases_sha256 or "",
            sealed=False,
            requested="main",
            url=None,
            resolved_ref=None,
            toolchain={},
        )

    def check(self, store: DiskStore, release: ReleaseId, claim: LockClaim) -> list[int]:
        checks, _ = check_release(store.open_raw(release), [], claim)
        return [check.number for check in checks if check.outcome == "no"]

    def test_the_lock_of_the_release_agrees(self, store: DiskStore, release: ReleaseId) -> None:
        assert self.check(store, release, LockClaim("x", self.lock(store, release))) == []

    def test_each_value_that_the_release_states_is_compared(self, store: DiskStore, release: ReleaseId) -> None:
        lock = self.lock(store, release)
        source = lock.evals["sums"].sources["cases"]
        edited = [
            replace(lock, name="other"),
            replace(lock, version="1.0.1"),
            replace(lock, case_count=6),
            replace(lock, cases_sha256="0" * 64),
            replace(lock, sealed=True),
            replace(lock, digest=Digest("0" * 64)),
            replace(lock, source=replace(lock.source, commit="3" * 40)),
            replace(lock, source=replace(lock.source, tree="3" * 40)),
            replace(lock, source=replace(lock.source, config="x.ts")),
            replace(lock, evals={"sums": lock.evals["sums"]}),
            replace(lock, evals={**lock.evals, "sums": replace(lock.evals["sums"], case_count=4)}),
            replace(lock, evals={**lock.evals, "sums": replace(lock.evals["sums"], sources={})}),
            replace(
                lock,
                evals={
                    **lock.evals,
                    "sums": replace(lock.evals["sums"], sources={"cases": replace(source, sha256="0" * 64)}),
                },
            ),
        ]
        assert [self.check(store, release, LockClaim("x", one)) for one in edited] == [[5]] * len(edited)
