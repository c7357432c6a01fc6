"""A full disk, a failing disk and a kill at every system call that changes a disk: old state or new state, never half.

The faults come from strace, outside of every line of ours. After each, the same operation is run again without a fault
and must end as if there had been none.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faults import Ended, FaultLab
from tests.support.operations import OPERATIONS
from tests.support.states import JUDGES, Compile

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
