"""Each limit ends the guest, has an ending of its own, and does the host no harm."""

from __future__ import annotations

import os
import resource
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.sandbox.conftest import CONFINING, LIMITS, OneWay, request_for, run_python
from trunchbuild.core.confinement import Sandbox


def alive(marker: str) -> list[str]:
    """Processes whose command line holds the marker; a killed one may need a moment to be gone."""
    deadline = time.monotonic() + 3
    while True:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if marker.encode() in (folder / "cmdline").read_bytes():
                    found.append(folder.name)
            except OSError:
                continue
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.02)


@pytest.mark.parametrize("code", [0, 1, 77])
def test_exit_code_comes_back(limited: Sandbox, code: int) -> None:
    outcome = run_python(limited, f"import sys; print('said', file=sys.stderr); sys.exit({code})").outcome
    assert (outcome.ending, outcome.code, outcome.diagnostics) == ("exited", code, "said\n")


def test_signal_comes_back(limited: Sandbox) -> None:
    outcome = run_python(limited, "import os; os.abort()").outcome
    assert (outcome.ending, outcome.code) == ("signalled", signal.SIGABRT)


def test_wall_time(limited: Sandbox) -> None:
    """A sleeping guest is ended, and nothing of it lives on."""
    marker = "wall-time-marker"
    code = f"import time; '{marker}'; print('up'); time.sleep(60)"
    run = run_python(limited, code, limits=replace(LIMITS, wall_seconds=0.5))
    assert run.outcome.ending == "timed-out"
    assert run.output == b"up\n"
    assert alive(marker) == []


def test_wall_time_of_a_guest_that_closed_its_pipes(limited: Sandbox) -> None:
    marker = "closed-pipes-marker"
    code = f"import os, time; '{marker}'; os.close(1); os.close(2); time.sleep(60)"
    assert run_python(limited, code, limits=replace(LIMITS, wall_seconds=0.5)).outcome.ending == "timed-out"
    assert alive(marker) == []


def test_cpu_time(limited: Sandbox) -> None:
    outcome = run_python(limited, "while True: pass", limits=replace(LIMITS, cpu_seconds=1)).outcome
    assert outcome.ending == "cpu-limit"


@pytest.mark.parametrize("way", CONFINING)
def test_cpu_time_of_a_guest_that_ignores_the_signal(way: str) -> None:
    sandbox = OneWay(CONFINING[way])
    code = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert run_python(sandbox, code, limits=replace(LIMITS, cpu_seconds=1)).outcome.ending == "cpu-limit"


def test_memory(limited: Sandbox) -> None:
    """Half of the limit is fine, twice the limit is not."""
    fits = run_python(limited, "print(len(bytearray(1 << 29)))")
    assert (fits.outcome.ending, fits.output) == ("exited", b"536870912\n")
    assert run_python(limited, "bytearray(2 << 30)").outcome.ending == "out-of-memory"


def test_output_flood_does_not_fill_the_host(limited: Sandbox) -> None:
    """200 MB without a line feed: ended at the limit, at most the limit handed out, no memory kept."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seen = 0

    def count(chunk: bytes) -> None:
        nonlocal seen
        seen += len(chunk)

    code = "import os\nfor _ in range(200): os.write(1, b'x' * 1000000)"
    with Path(os.devnull).open("rb") as nothing:
        outcome = limited.run(request_for(code, replace(LIMITS, output_bytes=5_000_000)), nothing, count)
    assert outcome.ending == "too-much-output"
    assert seen <= 5_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_output_up_to_the_limit_arrives_whole(limited: Sandbox) -> None:
    run = run_python(limited, "print('x' * 4_999_999)", limits=replace(LIMITS, output_bytes=5_000_000))
    assert run.outcome.ending == "exited"
    assert run.output == b"x" * 4_999_999 + b"\n"


def test_diagnostics_are_kept_to_their_limit(limited: Sandbox) -> None:
    """More is drained and dropped: the guest is not blocked by a full pipe."""
    code = "import sys; sys.stderr.write('e' * 3_000_000); print('done')"
    run = run_python(limited, code, limits=replace(LIMITS, diagnostics_bytes=1000))
    assert run.output == b"done\n"
    assert run.outcome.diagnostics == "e" * 1000


def test_files_cannot_grow(limited: Sandbox, tmp_path: Path) -> None:
    """Where a guest may open a file at all, it stays empty."""
    target = tmp_path / "file"
    target.touch()
    code = """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    open({path!r}, "wb", buffering=0).write(b"x")
except OSError as error:
    print(type(error).__name__)
"""
    said = run_python(limited, code.format(path=str(target))).output
    assert said in (b"OSError\n", b"FileNotFoundError\n", b"PermissionError\n")
    assert target.stat().st_size == 0


def test_open_files_are_limited(limited: Sandbox) -> None:
    code = """
import os
count = 3
try:
    while True:
        os.dup(0)
        count += 1
except OSError:
    print(count)
"""
    assert run_python(limited, code, limits=replace(LIMITS, open_files=20)).output == b"20\n"


def test_threads_are_limited(limited: Sandbox) -> None:
    """A guest cannot use up the machine's process numbers; the kernel exempts root from this limit alone."""
    running = int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2])
    code = """
import _thread, os, sys
most = int(sys.argv[1])
_thread.stack_size(32768)
lock = _thread.allocate_lock()
lock.acquire()
count = 0
try:
    while count < most:
        _thread.start_new_thread(lock.acquire, ())
        count += 1
except RuntimeError:
    os.write(1, b"refused")
os.write(1, b" %d" % count)
os._exit(0)
"""
    said = run_python(limited, code, words=(str(running + 6000),)).output.split()
    if os.geteuid() == 0:
        assert int(said[-1]) <= running + 6000
    else:
        assert said[0] == b"refused"
        assert 1000 < int(said[1]) < running + 6000


def test_a_receiver_that_fails_ends_the_guest(limited: Sandbox) -> None:
    marker = "failing-receiver-marker"

    def fail(chunk: bytes) -> None:
        raise KeyError(chunk)

    code = f"import time; '{marker}'; print('x'); time.sleep(60)"
    with Path(os.devnull).open("rb") as nothing, pytest.raises(KeyError):
        limited.run(request_for(code), nothing, fail)
    assert alive(marker) == []


def test_the_host_keeps_its_descriptors(limited: Sandbox) -> None:
    """Whatever the ending, no descriptor stays open here."""
    run_python(limited, "pass")
    before = len(list(Path("/proc/self/fd").iterdir()))
    run_python(limited, "print('x')")
    run_python(limited, "import time; time.sleep(9)", limits=replace(LIMITS, wall_seconds=0.2))
    run_python(limited, "print('x' * 100)", limits=replace(LIMITS, output_bytes=10))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
