"""Ctrl-C while an author's code runs: exit 130, nothing written, nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Process:
    """One process; another one with the same number later has another start."""

    pid: int
    start: str
    """In ticks since the system's start."""


def living() -> dict[Process, tuple[int, int]]:
    """Every process that has not ended -> its parent, and the ticks of user time that it has used; from /proc.

    One that has ended and was not reaped yet (a zombie) does not count: who reaps an orphan is the system's business.
    """
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                found[Process(int(entry.name), fields[19])] = (int(fields[1]), int(fields[11]))
    return found


def descendants(pid: int) -> dict[Process, int]:
    """All processes below this one -> the ticks that they have used."""
    alive = living()
    found: dict[Process, int] = {}
    wave = {pid}
    while wave:
        children = {one: ticks for one, (parent, ticks) in alive.items() if parent in wave and one not in found}
        found |= children
        wave = {one.pid for one in children}
    return found


def wait_for(condition: object, seconds: float = 180) -> bool:
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
    started: set[Process] = set()

    def both_run() -> bool:
        now = descendants(process.pid)
        started.update(now)
        return sum(ticks > 20 for ticks in now.values()) >= 2

    assert wait_for(both_run)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=180)
    assert (process.returncode, out, err) == (130, b"", b"interrupted; everything counted is on disk\n")
    assert wait_for(lambda: not started & living().keys())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows", "t.mjs"]
