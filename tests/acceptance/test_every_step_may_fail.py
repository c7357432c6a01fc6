"""A full disk, a failing disk and a kill at every system call that changes a disk: old state or new state, never half.

The faults come from strace, outside of every line of ours. After each, the same operation is run again without a fault
and must end as if there had been none.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faults import Ended, FaultLab
from tests.support.operations import NEW, OLD, OPERATIONS, imported_id
from tests.support.runs import grade_doors
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.flows.check_release import Claim, check_release
from trunchbuild.flows.verify_run import verify_run

CHANGING = (
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "mkdir",
    "unlink",
    "rmdir",
    "ftruncate",
    "fchmod",
    "flock",
)
"""The calls that change something; the others only look."""
LOOKING = ("openat", "close")
FAULTS = {"killed": "signal=KILL", "full": "error=ENOSPC"}
MORE_FAULTS = {**FAULTS, "failing": "error=EIO", "quota": "error=EDQUOT"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultLab]:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed; `make system` installs it")
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, FaultLab(Path(folder)) as made:
        yield made


def whole(store: DiskStore) -> list[str]:
    """The releases of a store; each passes every check that needs nothing else."""
    for release in store.releases():
        checks, _ = check_release(store.open_raw(release), (Claim(release, "its id"),), None)
        assert {check.outcome for check in checks} == {"yes"}, (release, checks)
    return [str(release) for release in store.releases()]


class Compile:
    """The lockfile is that of one commit or the other, whole, and its release is in the store."""

    def __init__(self, old: Path, new: Path) -> None:
        self.old, self.new = self._lock(old), self._lock(new)
        assert self.old != self.new

    @staticmethod
    def _lock(folder: Path) -> bytes:
        return (folder / "lockfiles" / "sums.lock.toml").read_bytes()

    def state(self, folder: Path) -> str:
        lock = self._lock(folder)
        releases = whole(DiskStore(folder / "home" / "store"))
        assert any(release.encode() in lock for release in releases)
        return {self.old: "old", self.new: "new"}[lock]


class Import:
    """The store holds the release whole, or does not hold it."""

    def __init__(self, old: Path, new: Path) -> None:
        assert (self.state(old), self.state(new)) == ("old", "new")

    def state(self, folder: Path) -> str:
        found = whole(DiskStore(folder / "home" / "store"))
        return {(): "old", (str(imported_id()),): "new"}[tuple(found)]


class Collect:
    """What is needed stays; what is not needed may be gone."""

    def __init__(self, old: Path, new: Path) -> None:
        assert (self.state(old), self.state(new)) == ("old", "new")

    def state(self, folder: Path) -> str:
        store = DiskStore(folder / "home" / "store")
        assert whole(store) == [str(imported_id())]
        return "new" if store.usage().loose_objects == 0 else "old"


class Evaluate:
    """A run that says it ended verifies, and has the digest of a run that nothing disturbed."""

    def __init__(self, old: Path, new: Path) -> None:
        self.digest = self._digest(new)
        assert self._digest(old) is None

    @staticmethod
    def _digest(folder: Path) -> str | None:
        found = list(folder.glob("runs/**/summary.json"))
        return json.loads(found[0].read_text(encoding="utf-8"))["results_digest"] if found else None

    def state(self, folder: Path) -> str:
        digest = self._digest(folder)
        if digest is None:
            return "old"
        assert digest == self.digest
        (summary,) = folder.glob("runs/**/summary.json")
        store = DiskStore(folder / "store")
        report = verify_run(summary.parent, store.open, grade_doors(), claimed=None)
        assert report.outcome == "yes", report
        return "new"


class Replace:
    """Each file is the old one or the new one."""

    def __init__(self, old: Path, new: Path) -> None:
        assert (self.state(old), self.state(new)) == ("old", "new")

    def state(self, folder: Path) -> str:
        contents = [(folder / name).read_bytes() for name in ("one", "two")]
        kinds = {(OLD[0], NEW[0]).index(contents[0]), (OLD[1], NEW[1]).index(contents[1])}
        return "new" if kinds == {1} else "old"


JUDGES = {"compile": Compile, "import": Import, "collect": Collect, "evaluate": Evaluate, "replace": Replace}


def sweep(lab: FaultLab, operation: str, fault: str, calls: tuple[str, ...]) -> int:
    """Make each of the calls fail in turn; how many faults were made."""
    undisturbed = lab.prepared(operation)
    counted = lab.run(operation, undisturbed)
    assert (counted.code, counted.text) == (0, ""), counted
    judge = JUDGES[operation](lab.prepared(operation), undisturbed)
    made = 0
    for call in calls:
        # Looking at anything else, our own installation for one, is not about what is kept.
        for number in counted.numbers(call, None if call in CHANGING else undisturbed):
            folder = lab.prepared(operation)
            ended = lab.run(operation, folder, f"{call}:{fault}:when={number}")
            where = f"{operation}: {call} {number}: {ended}"
            # What cannot be read is called damaged (3) or does not verify (1).
            check_end(ended, {0, 4} if call in CHANGING else {0, 1, 3, 4}, where)
            state = judge.state(folder)
            if ended.code == 0:
                assert state == "new", where
            OPERATIONS[operation](folder)
            assert judge.state(folder) == "new", where
            shutil.rmtree(folder)
            made += 1
    return made


def check_end(ended: Ended, codes: set[int], where: str) -> None:
    """Killed, or ended well, or an error with a text; never a fault of ours."""
    if ended.signal:
        assert ended.signal == 9, where
        return
    assert ended.code in codes, where
    assert bool(ended.text) == (ended.code != 0), where


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_fault_at_every_change(operation: str, fault: str, lab: FaultLab) -> None:
    assert sweep(lab, operation, FAULTS[fault], CHANGING) >= 5


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", MORE_FAULTS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_fault_at_every_call(operation: str, fault: str, lab: FaultLab) -> None:
    calls = (*CHANGING, *LOOKING) if fault in ("killed", "failing") else CHANGING
    made = sweep(lab, operation, MORE_FAULTS[fault], calls)
    print(f"{operation}: {made} faults ({fault})")
    assert made >= 5


def test_a_half_written_state_would_be_found(lab: FaultLab) -> None:
    """The twin: a lockfile cut short, an object cut short and a summary of another run are no state at all."""
    undisturbed = lab.prepared("compile")
    lab.run("compile", undisturbed)
    judge = Compile(lab.prepared("compile"), undisturbed)
    lock = undisturbed / "lockfiles" / "sums.lock.toml"
    text = lock.read_bytes()
    lock.write_bytes(text[:-10])
    with pytest.raises(KeyError):
        judge.state(undisturbed)
    lock.write_bytes(text)
    judge.state(undisturbed)
    objects = [path for path in (undisturbed / "home" / "store" / "objects").rglob("*") if path.is_file()]
    victim = max(objects, key=lambda path: path.stat().st_size)
    victim.chmod(0o600)
    victim.write_bytes(victim.read_bytes()[:-1])
    with pytest.raises(AssertionError):
        judge.state(undisturbed)
