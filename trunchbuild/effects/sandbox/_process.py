"""Runs a launched command: pipes, limits of time and output, the end. Nothing it started outlives it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

from trunchbuild.core.confinement import Ending, Limits, SandboxOutcome
from trunchbuild.effects.sandbox._launch import DESCRIPTORS, HARD_CPU_SECONDS, Launch

CHUNK = 1 << 20
_PIPE_BYTES = 1 << 20
_DEATH_SECONDS = 5.0
"""How long a killed guest may take to be gone; the kernel needs milliseconds."""

_MEMORY_WORDS = (b"heap out of memory", b"MemoryError", b"Cannot allocate memory", b"std::bad_alloc", b"out of memory")


@dataclass(slots=True)
class Ended:
    """How a command ended, before anybody asks whether the confinement had been set up."""

    outcome: SandboxOutcome
    status: bytes
    """What the confinement said on its own pipe."""
    killed: bool
    """Whether this side ended it; the confinement then had no time to say anything."""


@dataclass(slots=True)
class Diagnostics:
    """The first bytes of standard error; the rest is dropped."""

    limit: int
    kept: bytearray = field(default_factory=bytearray)

    def add(self, chunk: bytes) -> None:
        """Keep what fits."""
        self.kept += chunk[: max(0, self.limit - len(self.kept))]

    def text(self) -> str:
        """As text."""
        return self.kept.decode("utf-8", "replace")


def spawn(launch: Launch, stdin: int) -> subprocess.Popen[bytes]:
    """Start the command. The kernel kills it when the thread that calls this ends (PR_SET_PDEATHSIG)."""
    try:
        process = subprocess.Popen(  # noqa: S603 - argv is ours
            launch.argv,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=launch.environment,
            pass_fds=launch.pass_fds,
            cwd=launch.workdir,
            start_new_session=True,
        )
    except BaseException:
        launch.close()
        raise
    for descriptor in launch.pass_fds:
        os.close(descriptor)
    return process


def run_to_end(launch: Launch, limits: Limits, stdin: IO[bytes], on_output: Callable[[bytes], None]) -> Ended:
    """Run a command to its end and hand out its output as it comes."""
    started = time.monotonic()
    deadline = started + limits.wall_seconds
    process = _spawn_reading(launch, stdin)
    assert process.stdout is not None
    assert process.stderr is not None
    diagnostics = Diagnostics(limits.diagnostics_bytes)
    try:
        widen(process.stdout)
        with process.stdout, process.stderr:
            forced = _pump(process, deadline, limits, on_output, diagnostics)
            ending, code = finish(process, forced, (deadline, cpu_end(started, limits)), diagnostics)
            if forced is not None:
                drain(process.stdout, diagnostics)
    except BaseException:
        kill(process)
        read_status(launch)
        raise
    status = read_status(launch)
    return Ended(
        SandboxOutcome(ending, code, diagnostics.text(), time.monotonic() - started),
        status,
        forced is not None or ending == "timed-out",
    )


def _spawn_reading(launch: Launch, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the command on a file that was opened for writing too: the guest gets a descriptor that only reads."""
    try:
        descriptor = os.open(f"{DESCRIPTORS}/{stdin.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
    except BaseException:
        launch.close()
        raise
    try:
        return spawn(launch, descriptor)
    finally:
        os.close(descriptor)


def _pump(
    process: subprocess.Popen[bytes],
    deadline: float,
    limits: Limits,
    on_output: Callable[[bytes], None],
    diagnostics: Diagnostics,
) -> Ending | None:
    """Read both pipes to their end; return the limit that was hit."""
    stdout, stderr = process.stdout, process.stderr
    assert stdout is not None
    assert stderr is not None
    poll = select.poll()
    names = {stdout.fileno(): stdout, stderr.fileno(): stderr}
    for descriptor in names:
        poll.register(descriptor, select.POLLIN)
    left = limits.output_bytes
    while names:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return "timed-out"
        for descriptor, _ in poll.poll(remaining * 1000):
            chunk = os.read(descriptor, CHUNK)
            if not chunk:
                poll.unregister(descriptor)
                del names[descriptor]
            elif names[descriptor] is stderr:
                diagnostics.add(chunk)
            elif len(chunk) > left:
                return "too-much-output"
            else:
                left -= len(chunk)
                on_output(chunk)
    return None


def finish(
    process: subprocess.Popen[bytes], forced: Ending | None, times: tuple[float, float], words: Diagnostics
) -> tuple[Ending, int]:
    """Wait for the end, killing where a limit was hit; say how it ended.

    `times` are two readings of the monotonic clock: the deadline, and from when a death by SIGKILL can be the hard
    limit of CPU time.
    """
    deadline, cpu_end = times
    if forced is None and not _wait(process, max(0.0, deadline - time.monotonic())):
        # Both pipes may be closed by a guest that goes on running.
        forced = "timed-out"
    if forced is not None:
        kill(process)
        return forced, int(signal.SIGKILL)
    assert process.returncode is not None
    return explain(process.returncode, time.monotonic() >= cpu_end, bytes(words.kept))


def cpu_end(started: float, limits: Limits) -> float:
    """The earliest time at which one thread can have used all its CPU time."""
    return started + limits.cpu_seconds + HARD_CPU_SECONDS


def _wait(process: subprocess.Popen[bytes], timeout: float) -> bool:
    """Wait and reap; False after the timeout. `Popen.wait` would poll with sleeps of up to 50 ms."""
    if hasattr(os, "pidfd_open"):
        descriptor = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if not poll.poll(timeout * 1000):
                return False
        finally:
            os.close(descriptor)
    try:
        process.wait(None if hasattr(os, "pidfd_open") else timeout)
    except subprocess.TimeoutExpired:
        return False
    return True


def explain(returncode: int, cpu_time_possible: bool, last_words: bytes) -> tuple[Ending, int]:
    """Name the ending of a command that nobody of ours killed. A confined signal N shows as exit code 128 + N."""
    number = -returncode if returncode < 0 else returncode - 128 if returncode > 128 else 0
    if number == signal.SIGXCPU:
        return "cpu-limit", number
    if number == signal.SIGKILL:
        # The kernel's: CPU time beyond the hard limit (only where SIGXCPU was ignored), or no memory left.
        return ("cpu-limit" if cpu_time_possible else "out-of-memory"), number
    if returncode and any(word in last_words for word in _MEMORY_WORDS):
        return "out-of-memory", number
    if number:
        return "signalled", number
    return "exited", returncode


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the command and its group, and reap it."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()


def drain(stdout: IO[bytes], diagnostics: Diagnostics) -> None:
    """Wait until a killed guest is gone: its end of the pipe closes with it."""
    deadline = time.monotonic() + _DEATH_SECONDS
    poll = select.poll()
    poll.register(stdout.fileno(), select.POLLIN)
    while (remaining := deadline - time.monotonic()) > 0 and poll.poll(remaining * 1000):
        if not os.read(stdout.fileno(), CHUNK):
            return
    diagnostics.add(b"\n(the guest was slow to die)")


def read_status(launch: Launch) -> bytes:
    """What the confinement reported, once it is gone. Closes what this process kept of the launch."""
    if launch.lifeline_fd >= 0:
        # Who watches it holds the other pipe too, and ends.
        os.close(launch.lifeline_fd)
    if launch.status_fd < 0:
        return b""
    with os.fdopen(launch.status_fd, "rb") as pipe:
        return pipe.read(1 << 16)


def widen(pipe: IO[bytes]) -> None:
    """Fewer wake-ups for megabytes of output; a refusal (the user's quota of pipe pages) costs only speed."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            return
