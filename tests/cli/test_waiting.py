"""A bar for what takes long: on a terminal, after a second, on standard error, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, time
from trunchbuild.cli.render import waiting
with waiting("compiling"):
    time.sleep(float(sys.argv[1]))
print("done")
"""


def on_terminal(seconds: float) -> tuple[str, str]:
    """What stands on the terminal (standard error) and in the pipe (standard output)."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(seconds)],
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        )
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not chunk:
                break
            shown += chunk
        out, _ = process.communicate(timeout=60)
    finally:
        os.close(ours)
    return shown.decode(), out.decode()


def test_a_long_wait_is_shown_on_a_terminal() -> None:
    """The label and the time gone, on standard error; standard output holds the answer alone."""
    shown, out = on_terminal(2.0)
    assert "compiling" in shown
    assert "0:00:0" in shown
    assert out == "done\n"


def test_a_short_wait_shows_nothing() -> None:
    """What takes less than a second needs no bar."""
    shown, out = on_terminal(0.0)
    assert shown == ""
    assert out == "done\n"


def test_a_pipe_gets_no_bar(tmp_path: Path) -> None:
    """A log file holds no control characters."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, "1.5"], capture_output=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"done\n", b"")
