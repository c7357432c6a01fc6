"""The store on a disk: write-once objects, releases that are there whole or not at all, every read re-hashed."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from tests.fakes.trees import MemoryTree
from tests.support.releases import (
    MODULES,
    PIN,
    add_release,
    benchmark,
    case,
    export,
    files_of,
    provenance,
    transformed_eval,
)
from trunchbuild.core.ids import Digest
from trunchbuild.core.manifest import PRIVATE
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.effects.store._files import Files
from trunchbuild.effects.store.api import DamagedReleaseError, StoreError, UnknownReleaseError
from trunchbuild.errors import BadInputError
from trunchbuild.flows.build import build_release, write_provenance
from trunchbuild.flows.show import list_releases


@pytest.fixture
def store(tmp_path: Path) -> DiskStore:
    return DiskStore(tmp_path / "store")


def tree(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


class TestKeeping:
    def test_an_object_has_the_name_that_sha256sum_gives_its_bytes(self, store: DiskStore, tmp_path: Path) -> None:
        release = add_release(store)
        objects = sorted((tmp_path / "store" / "objects").glob("*/*"))
        said = subprocess.run(["sha256sum", *objects], capture_output=True, check=True, text=True).stdout.split()[::2]
        assert said == [path.parent.name + path.name for path in objects]
        assert release.hex in said

    def test_objects_cannot_be_written_again(self, store: DiskStore, tmp_path: Path) -> None:
        add_release(store)
        modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "store" / "objects").glob("*/*")}
        assert modes == {0o444}

    def test_adding_twice_changes_nothing(self, store: DiskStore, tmp_path: Path) -> None:
        assert add_release(store) == add_release(store)
        before = tree(tmp_path / "store")
        add_release(store)
        assert tree(tmp_path / "store") == before
        assert len(store.releases()) == 1

    def test_two_releases_share_equal_files(self, store: DiskStore, tmp_path: Path) -> None:
        add_release(store)
        one = len(list((tmp_path / "store" / "objects").glob("*/*")))
        add_release(store, benchmark(version="1.0.1"))
        assert len(list((tmp_path / "store" / "objects").glob("*/*"))) == one + 1

    def test_files_come_back_as_they_went_in(self, store: DiskStore, tmp_path: Path) -> None:
        release = add_release(store)
        folder = export(store, release, tmp_path / "out")
        again = DiskStore(tmp_path / "other")
        opened = [(name, io.BytesIO(data)) for name, data in files_of(folder).items()]
        assert again.add(opened) == release
        assert files_of(export(again, release, tmp_path / "out2")) == files_of(folder)
        assert again.open(release).read("modules/tools/add.js").decode() == MODULES["tools/add.js"]

    def test_a_stage_that_is_not_kept_touches_no_store(self, store: DiskStore, tmp_path: Path) -> None:
        with store.stage(keep=False) as stage, stage.create("x") as sink:
            sink.write(b"1")
        assert not (tmp_path / "store").exists()

    def test_writers_at_the_same_time_end_with_one_whole_release(self, store: DiskStore) -> None:
        ended: list[Digest] = []
        threads = [threading.Thread(target=lambda: ended.append(add_release(store))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(ended) == 4
        assert store.releases() == [ended[0]]
        assert list(store.open(ended[0]).lines("cases.jsonl"))
        assert store.usage().loose_objects == 0


class TestReading:
    """R112: a stored digest is compared with the stored bytes on every read."""

    @pytest.mark.parametrize("name", ["manifest.json", "cases.jsonl", "private.jsonl", "modules/tools/add.js"])
    def test_a_changed_object_is_never_handed_out(self, store: DiskStore, tmp_path: Path, name: str) -> None:
        release = add_release(store)
        sha256 = release.hex if name == "manifest.json" else store.open(release).manifest.file(name).sha256
        path = tmp_path / "store" / "objects" / sha256[:2] / sha256[2:]
        data = bytearray(path.read_bytes())
        data[10] ^= 1
        path.chmod(0o644)
        path.write_bytes(data)

        def read() -> None:
            files = store.open(release)
            list(files.lines(name)) if name.endswith("jsonl") else files.read(name)

        with pytest.raises(DamagedReleaseError) as caught:
            read()
        assert hashlib.sha256(data).hexdigest() in str(caught.value)
        assert sha256 in str(caught.value)

    def test_adding_again_repairs_a_damaged_object(self, store: DiskStore, tmp_path: Path) -> None:
        release = add_release(store)
        sha256 = store.open(release).manifest.file(PRIVATE).sha256
        path = tmp_path / "store" / "objects" / sha256[:2] / sha256[2:]
        path.chmod(0o644)
        path.write_bytes(b"x")
        add_release(store)
        assert (
            hashlib.sha256(b"".join(line + b"\n" for line in store.open(release).lines(PRIVATE))).hexdigest() == sha256
        )

    @pytest.mark.parametrize("kind", ["link", "pipe", "missing", "truncated"])
    @pytest.mark.parametrize("which", ["manifest.json", "cases.jsonl", "entry"])
    def test_what_was_damaged_by_hand_is_told_and_repaired(
        self, store: DiskStore, tmp_path: Path, which: str, kind: str
    ) -> None:
        """Nothing waits at a pipe or follows a link; the other releases stay usable; adding again makes it whole."""
        release, other = add_release(store), add_release(store, benchmark(version="2.0.0"))
        root = tmp_path / "store"
        sha256 = release.hex if which == "manifest.json" else store.open(release).manifest.file("cases.jsonl").sha256
        path = root / "releases" / release.hex if which == "entry" else root / "objects" / sha256[:2] / sha256[2:]
        kept = path.rename(tmp_path / "elsewhere")
        if kind == "link":
            path.symlink_to(kept)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "truncated":
            path.write_bytes(kept.read_bytes()[:20])

        assert len(list(store.open(other).lines("private.jsonl"))) == 5
        summaries, damaged = list_releases(store)
        assert other in [one.release for one in summaries]
        told = which == "manifest.json" or (which == "entry" and kind in ("link", "pipe"))
        assert damaged == ([release] if told else [])
        assert store.resolve("small-sums@2.0.0") == other
        store.usage()

        assert add_release(store) == release
        assert stat.S_ISREG(path.lstat().st_mode)
        assert path.read_bytes() == kept.read_bytes()
        assert len(list(store.open(release).lines("cases.jsonl"))) == 5

    def test_a_folder_in_the_place_of_an_object_is_named(self, store: DiskStore, tmp_path: Path) -> None:
        release = add_release(store)
        path = tmp_path / "store" / "objects" / release.hex[:2] / release.hex[2:]
        path.unlink()
        path.mkdir()
        with pytest.raises(StoreError) as caught:
            add_release(store)
        assert caught.value.faults[0].place == str(path)
        assert "remove it" in (caught.value.hint or "")

    def test_the_first_record_of_a_build_stays(self, store: DiskStore) -> None:
        release = add_release(store)
        first = store.provenance(release)
        with store.stage(keep=True) as stage:
            built = build_release(benchmark(), MemoryTree(MODULES), PIN, stage, seal_key=None)
            write_provenance(stage, replace(provenance(built.digest), built="2027-01-01T00:00:00Z"))
            stage.keep()
        assert store.provenance(release) == first

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads what nobody may read")
    def test_a_release_that_may_not_be_read_hides_no_other(self, store: DiskStore, tmp_path: Path) -> None:
        release, other = add_release(store), add_release(store, benchmark(version="2.0.0"))
        path = tmp_path / "store" / "objects" / release.hex[:2] / release.hex[2:]
        path.chmod(0)
        assert list_releases(store)[1] == [release]
        assert store.resolve("small-sums@2.0.0") == other
        with pytest.raises(StoreError):
            store.collect()
        add_release(store)
        assert list_releases(store)[1] == []

    def test_a_withheld_private_part_is_said_to_be_withheld(self, store: DiskStore, tmp_path: Path) -> None:
        folder = export(store, add_release(store), tmp_path / "out", leave_out=[PRIVATE])
        files = store.open_folder(folder)
        assert not files.has_private()
        assert len(list(files.lines("cases.jsonl"))) == 5
        with pytest.raises(BadInputError, match="withheld"):
            list(files.lines(PRIVATE))

    def test_a_link_in_a_folder_is_not_followed(self, store: DiskStore, tmp_path: Path) -> None:
        """R110: what a link points to is no part of a release."""
        folder = export(store, add_release(store), tmp_path / "out")
        kept = (folder / "cases.jsonl").rename(tmp_path / "elsewhere")
        (folder / "cases.jsonl").symlink_to(kept)
        files = store.open_folder(folder)
        assert "cases.jsonl" not in files.names()
        assert files.raw.odd() == ["cases.jsonl"]
        with pytest.raises(BadInputError, match="no such file"):
            list(files.lines("cases.jsonl"))


class TestNames:
    def test_every_form_finds_the_release(self, store: DiskStore) -> None:
        release = add_release(store)
        shown = f"small-sums-1.0.0-{release.hex[:12]}"
        for text in (
            str(release),
            release.hex,
            release.hex[:8],
            f"sha256:{release.hex[:9]}",
            "small-sums@1.0.0",
            shown,
        ):
            assert store.resolve(text) == release

    def test_too_short_unknown_or_ambiguous_is_an_error_with_candidates(self, store: DiskStore) -> None:
        one = add_release(store)
        other = add_release(store, benchmark(transformed_eval([case("sums", "x", "y?")])))
        for text in (one.hex[:7], "f" * 8, "small-sums@2.0.0", f"small-sums-9-{one.hex[:12]}", "nonsense"):
            with pytest.raises(UnknownReleaseError) as caught:
                store.resolve(text)
            assert one.hex[:12] in (caught.value.hint or "")
        with pytest.raises(UnknownReleaseError, match="more than one") as caught:
            store.resolve("small-sums@1.0.0")
        assert one.hex in str(caught.value)
        assert other.hex in str(caught.value)

    def test_an_empty_store_says_how_to_fill_it(self, store: DiskStore) -> None:
        with pytest.raises(UnknownReleaseError) as caught:
            store.resolve("0" * 8)
        assert "trunchbuild compile" in (caught.value.hint or "")
        assert store.releases() == []


class Failing(Files):
    """A disk that fails at the n-th change, and afterwards at every one (a full disk stays full)."""

    def __init__(self, at: int, number: int = errno.ENOSPC) -> None:
        self._left = at
        self._number = number
        self.calls = 0

    def _step(self) -> None:
        self.calls += 1
        self._left -= 1
        if self._left < 0:
            raise OSError(self._number, os.strerror(self._number))

    def make_folder(self, folder: Path) -> None:
        self._step()
        super().make_folder(folder)

    def create(self, path: Path) -> IO[bytes]:
        self._step()
        return super().create(path)

    def write(self, file: IO[bytes], data: bytes) -> None:
        self.calls += 1
        self._left -= 1
        if self._left < 0:
            super().write(file, data[: len(data) // 2])
            raise OSError(self._number, os.strerror(self._number))
        super().write(file, data)

    def seal(self, file: IO[bytes]) -> None:
        self._step()
        super().seal(file)

    def rename(self, source: Path, target: Path) -> None:
        self._step()
        super().rename(source, target)


def steps_of(tmp_path: Path) -> int:
    counting = Failing(10**9)
    add_release(DiskStore(tmp_path / "counted", counting))
    return counting.calls


class TestFailures:
    def test_whichever_step_fails_nothing_half_written_stands_under_a_final_name(self, tmp_path: Path) -> None:
        steps = steps_of(tmp_path)
        assert steps > 20
        for at in range(steps):
            root = tmp_path / f"store{at}"
            with pytest.raises(StoreError, match="No space left") as caught:
                add_release(DiskStore(root, Failing(at)))
            assert "free some space" in (caught.value.hint or "")
            store = DiskStore(root)
            assert store.releases() == []
            for path in (root / "objects").glob("*/*"):
                assert hashlib.sha256(path.read_bytes()).hexdigest() == path.parent.name + path.name
            assert not [path for path in (root / "tmp").rglob("*") if path.is_file()]
            release = add_release(store)
            assert len(list(store.open(release).lines("cases.jsonl"))) == 5

    def test_after_a_failure_collect_leaves_only_what_is_needed(self, tmp_path: Path) -> None:
        steps = steps_of(tmp_path)
        root = tmp_path / "store"
        with pytest.raises(StoreError):
            add_release(DiskStore(root, Failing(steps - 1)))
        store = DiskStore(root)
        assert store.usage().loose_objects == 5
        store.collect()
        assert store.usage().objects == 0
        kept = add_release(store)
        (root / "tmp/killed").mkdir()
        store.collect()
        assert list((root / "tmp").iterdir()) == []
        assert store.usage().loose_objects == 0
        assert len(list(store.open(kept).lines("private.jsonl"))) == 5

    @pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
    def test_a_home_that_cannot_be_written_says_which_setting_helps(self, tmp_path: Path, number: int) -> None:
        with pytest.raises(StoreError) as caught:
            add_release(DiskStore(tmp_path / "store", Failing(0, number)))
        assert "TRUNCHBUILD_HOME" in (caught.value.hint or "")

    def test_a_home_below_a_file_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"")
        store = DiskStore(tmp_path / "file" / "store")
        for use in (lambda: add_release(store), store.releases, store.usage):
            with pytest.raises(StoreError):
                use()

    def test_nothing_is_collected_while_another_writes(self, store: DiskStore) -> None:
        with store.stage(keep=True), pytest.raises(StoreError, match="another process"):
            store.collect()
        store.collect()

    def test_a_reader_needs_no_writable_home(self, store: DiskStore, tmp_path: Path) -> None:
        release = add_release(store)
        reader = DiskStore(tmp_path / "store", Failing(0))
        assert reader.releases() == [release]
        assert len(list(reader.open(release).lines("cases.jsonl"))) == 5

    def test_a_removed_release_is_gone_with_its_objects(self, store: DiskStore, tmp_path: Path) -> None:
        one, other = add_release(store), add_release(store, benchmark(version="2.0.0"))
        manifest = tmp_path / "store" / "objects" / one.hex[:2] / one.hex[2:]
        assert manifest.is_file()
        store.remove(one)
        store.collect()
        assert store.releases() == [other]
        assert not manifest.exists()
        assert len(list(store.open(other).lines("cases.jsonl"))) == 5
        with pytest.raises(UnknownReleaseError):
            store.open(one)


def test_an_error_of_the_caller_is_not_one_of_the_store(store: DiskStore) -> None:
    """A stage that is left by an error keeps nothing and does not rename the error."""

    def failing() -> None:
        with store.stage(keep=True) as stage, stage.create("cases.jsonl"):
            raise BrokenPipeError("theirs")

    run: Callable[[], None] = failing
    with pytest.raises(BrokenPipeError):
        run()
    assert store.releases() == []


class TestOddPlaces:
    """What stands where a store should be, or inside it."""

    def test_a_file_in_the_place_of_a_store(self, store: DiskStore, tmp_path: Path) -> None:
        (tmp_path / "store").write_text("mine")
        with pytest.raises(StoreError) as caught:
            add_release(store)
        assert caught.value.faults[0].place == str(tmp_path / "store")
        assert "TRUNCHBUILD_HOME" in (caught.value.hint or "")
        assert (tmp_path / "store").read_text() == "mine"

    def test_a_store_behind_a_link_is_a_store(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        release = add_release(DiskStore(tmp_path / "link"))
        assert DiskStore(tmp_path / "real").releases() == [release]

    def test_a_link_to_nothing_is_no_store(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("nowhere")
        with pytest.raises(StoreError, match="link"):
            add_release(DiskStore(tmp_path / "link"))

    def test_what_others_put_into_a_store_is_neither_counted_nor_removed(
        self, store: DiskStore, tmp_path: Path
    ) -> None:
        release = add_release(store)
        before = store.usage()
        root = tmp_path / "store"
        foreign = [root / "README", root / "objects" / "note", root / "releases" / "note"]
        foreign += [root / "objects" / "ab" / "note", root / "objects" / "abc" / ("0" * 61)]
        for path in foreign:
            path.parent.mkdir(exist_ok=True)
            path.write_text("mine")
        (root / "releases" / ("0" * 64)).mkdir()
        assert store.usage().loose_objects == before.loose_objects == 0
        store.collect()
        assert [path.read_text() for path in foreign] == ["mine"] * len(foreign)
        assert len(list(store.open(release).lines("cases.jsonl"))) == 5

    @pytest.mark.parametrize("mask", [0o077, 0o022, 0o002])
    def test_folders_follow_the_umask(self, store: DiskStore, tmp_path: Path, mask: int) -> None:
        """With 077 nobody else gets in, whatever the modes of the files inside."""
        old = os.umask(mask)
        try:
            add_release(store)
        finally:
            os.umask(old)
        folders = [tmp_path / "store", *(path for path in (tmp_path / "store").rglob("*") if path.is_dir())]
        assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o777 & ~mask}

    def test_a_store_over_two_file_systems_is_refused_in_words(self, store: DiskStore, tmp_path: Path) -> None:
        shared = Path("/dev/shm")
        if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("this machine has one file system")
        with tempfile.TemporaryDirectory(dir=shared) as elsewhere:
            (tmp_path / "store").mkdir()
            (tmp_path / "store" / "objects").symlink_to(elsewhere)
            with pytest.raises(StoreError, match="cross-device") as caught:
                add_release(store)
            assert "must lie on one" in (caught.value.hint or "")
            assert store.releases() == []

    def test_gc_says_who_writes(self, store: DiskStore) -> None:
        with store.stage(keep=True), pytest.raises(StoreError, match=f"got process {os.getpid()}$"):
            store.collect()

    def test_what_shall_be_forgotten_stays_while_another_writes(self, store: DiskStore) -> None:
        release = add_release(store)
        with store.stage(keep=True), pytest.raises(StoreError, match="another process"):
            store.collect([release])
        assert store.releases() == [release]
        store.collect([release])
        assert store.releases() == []
        with pytest.raises(UnknownReleaseError):
            store.collect([release])
