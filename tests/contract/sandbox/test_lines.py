"""A process that answers line by line."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.sandbox.conftest import LIMITS, request_for
from tests.contract.sandbox.test_limits import alive
from trunchbuild.core.confinement import GuestEndedError, Sandbox

ECHO = "import sys\nfor line in sys.stdin: sys.stdout.write(line.upper())"


def test_answers_in_turn(limited: Sandbox) -> None:
    with limited.start(request_for(ECHO)) as process:
        assert process.exchange(b"one", timeout_seconds=10) == b"ONE"
        assert process.exchange(b"", timeout_seconds=10) == b""
        assert process.exchange("zwölf".encode(), timeout_seconds=10) == "ZWÖLF".encode()


def test_long_lines_pass_both_ways_at_once(limited: Sandbox) -> None:
    """A guest that answers while the question is still being written does not block either side."""
    code = """
import os, sys
while True:
    chunk = os.read(0, 1 << 16)
    if not chunk:
        break
    while chunk:
        chunk = chunk[os.write(1, chunk):]
"""
    line = b"x" * 5_000_000
    with limited.start(request_for(code, replace(LIMITS, output_bytes=6_000_000))) as process:
        assert process.exchange(line, timeout_seconds=20) == line


def test_silence_ends_the_process(limited: Sandbox) -> None:
    marker = "silent-marker"
    with limited.start(request_for(f"import time; '{marker}'; time.sleep(60)")) as process:
        with pytest.raises(GuestEndedError) as caught:
            process.exchange(b"x", timeout_seconds=0.3)
        assert caught.value.outcome.ending == "timed-out"
        assert alive(marker) == []
        with pytest.raises(GuestEndedError):
            process.exchange(b"x", timeout_seconds=10)


def test_death_is_told_with_last_words(limited: Sandbox) -> None:
    with (
        limited.start(request_for("import sys; input(); sys.exit('no such case')")) as process,
        pytest.raises(GuestEndedError) as caught,
    ):
        process.exchange(b"x", timeout_seconds=10)
    outcome = caught.value.outcome
    assert (outcome.ending, outcome.code, outcome.diagnostics) == ("exited", 1, "no such case\n")


def test_a_flood_without_line_feed_is_ended(limited: Sandbox) -> None:
    code = "import os; input()\nwhile True: os.write(1, b'x' * 65536)"
    with limited.start(request_for(code)) as process, pytest.raises(GuestEndedError) as caught:
        process.exchange(b"x", timeout_seconds=10)
    assert caught.value.outcome.ending == "too-much-output"


def test_two_answers_to_one_question_end_the_process(limited: Sandbox) -> None:
    """A line that nobody asked for would otherwise answer the next question."""
    with limited.start(request_for("input(); print('1\\n2', flush=True); input(); input()")) as process:
        assert process.exchange(b"x", timeout_seconds=10) == b"1"
        with pytest.raises(GuestEndedError):
            process.exchange(b"y", timeout_seconds=10)


def test_cpu_time_counts_over_all_exchanges(limited: Sandbox) -> None:
    code = "input()\nwhile True: pass"
    with (
        limited.start(request_for(code, replace(LIMITS, cpu_seconds=1))) as process,
        pytest.raises(GuestEndedError) as caught,
    ):
        process.exchange(b"x", timeout_seconds=15)
    assert caught.value.outcome.ending == "cpu-limit"


def test_leaving_the_context_kills(limited: Sandbox) -> None:
    marker = "left-marker"
    with limited.start(request_for(f"'{marker}'\n{ECHO}")) as process:
        assert process.exchange(b"up", timeout_seconds=10) == b"UP"
    assert process.outcome().ending == "signalled"
    assert alive(marker) == []


def test_outlives_the_thread_that_started_it(limited: Sandbox) -> None:
    """The kernel ties a process to the thread that spawned it; callers must not notice."""
    found = []

    def start() -> None:
        context = limited.start(request_for(ECHO))
        found.append((context, context.__enter__()))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    context, process = found[0]
    try:
        assert process.exchange(b"still here", timeout_seconds=10) == b"STILL HERE"
    finally:
        context.__exit__(None, None, None)


def test_no_descriptor_and_no_thread_stays(limited: Sandbox) -> None:
    with limited.start(request_for(ECHO)) as process:
        process.exchange(b"x", timeout_seconds=10)
    before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    for _ in range(3):
        with limited.start(request_for(ECHO)) as process:
            process.exchange(b"x", timeout_seconds=10)
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before
