"""Ctrl-C while an author's code runs: exit 130, nothing written, nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def descendants(pid: int) -> set[int]:
    """All processes below this one, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found, wave = set[int](), {pid}
    while wave:
        wave = {child for child, parent in parents.items() if parent in wave} - found
        found |= wave
    return found


def wait_for(condition: object, seconds: float = 60) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything(tmp_path: Path, warm_home: Path, number: int) -> None:
    (tmp_path / "t.mjs").write_text("export default { name: 't', transform() { for (;;); } }\n")
    (tmp_path / "rows").write_text("")
    arguments = ["transform", "--transformer=t.mjs", "--source=rows=rows", "--output=out/cases.jsonl"]
    environment = os.environ | {"TRUNCHBUILD_HOME": str(warm_home)}
    process = subprocess.Popen(
        [sys.executable, "-m", "trunchbuild", *arguments],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    started: set[int] = set()

    def both_run() -> bool:
        started.update(descendants(process.pid))
        busy = [pid for pid in descendants(process.pid) if cpu_ticks(pid) > 20]
        return len(busy) >= 2

    assert wait_for(both_run)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"interrupted; everything counted is on disk\n")
    assert wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows", "t.mjs"]


def cpu_ticks(pid: int) -> int:
    """User time that a process has used, in ticks of the system's clock."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])
    except OSError:
        return 0
