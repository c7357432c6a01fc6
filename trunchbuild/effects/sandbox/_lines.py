"""A confined process that answers line by line."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import subprocess
import threading
import time
from types import TracebackType
from typing import IO, Self

from trunchbuild.core.confinement import Ending, GuestEndedError, Limits, SandboxOutcome
from trunchbuild.effects.sandbox._launch import Launch
from trunchbuild.effects.sandbox._process import (
    CHUNK,
    Diagnostics,
    Ended,
    cpu_end,
    drain,
    finish,
    kill,
    read_status,
    spawn,
    widen,
)

_GRACE_SECONDS = 5.0
"""How long a process whose output has ended may take to exit before it is killed."""


class LineProcess:
    """Implements `SandboxProcess`; use as a context manager."""

    def __init__(self, launch: Launch, limits: Limits) -> None:
        self._launch = launch
        self._limits = limits
        self._started = time.monotonic()
        self._diagnostics = Diagnostics(limits.diagnostics_bytes)
        self._buffer = bytearray()
        self._ended: Ended | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._failure: BaseException | None = None
        ready = threading.Event()
        # The kernel kills the process when the thread that spawned it ends, so a thread is spent on each.
        self._keeper = threading.Thread(target=self._keep, args=(ready,), name="sandbox-keeper", daemon=True)
        self._keeper.start()
        ready.wait()
        if self._failure is not None:
            raise self._failure

    def _keep(self, ready: threading.Event) -> None:
        """Spawn, drain standard error, stay until the process has ended (without reaping it)."""
        try:
            self._process = process = _spawn_with_pipe(self._launch)
        except BaseException as failure:
            self._failure = failure
            return
        finally:
            ready.set()
        assert process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(process.stderr.fileno(), CHUNK):
                self._diagnostics.add(chunk)
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.outcome()

    def exchange(self, line: bytes, *, timeout_seconds: float) -> bytes:
        r"""Send one line (without `\n`) and return the one line that comes back."""
        if self._ended is not None:
            raise GuestEndedError(self._ended.outcome)
        if b"\n" in line:
            raise ValueError("a line holds no line feed")
        stdin, stdout = self._pipes()
        deadline = time.monotonic() + timeout_seconds
        try:
            forced = self._talk(stdin, stdout, memoryview(line + b"\n"), deadline)
        except BaseException:
            self._finish("timed-out")
            raise
        end = self._buffer.find(b"\n")
        if forced is not None or end < 0:
            raise GuestEndedError(self._finish(forced).outcome)
        reply = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return reply

    def _talk(self, stdin: IO[bytes], stdout: IO[bytes], rest: memoryview, deadline: float) -> Ending | None:
        """Write the question and read until a line has come; both at once, since either pipe may be full."""
        if self._buffer or _readable(stdout):
            # A line that nobody asked for would answer the next question: the process cannot be trusted to be in step.
            self._diagnostics.add(b"\n(the guest spoke out of turn)")
            return "too-much-output"
        poll = select.poll()
        poll.register(stdout.fileno(), select.POLLIN)
        poll.register(stdin.fileno(), select.POLLOUT)
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return "timed-out"
            for descriptor, _ in poll.poll(remaining * 1000):
                if descriptor == stdin.fileno():
                    rest = _write_some(descriptor, rest)
                    if not rest:
                        poll.unregister(descriptor)
                    continue
                chunk = os.read(descriptor, CHUNK)
                self._buffer += chunk
                if len(self._buffer) > self._limits.output_bytes:
                    return "too-much-output"
                if not chunk or b"\n" in chunk:
                    return None

    def outcome(self) -> SandboxOutcome:
        """Kill the process if it lives, and say how it ended."""
        return self.ended().outcome

    def ended(self) -> Ended:
        """As `outcome`, with the words of the confinement."""
        return self._ended if self._ended is not None else self._finish("signalled")

    def _finish(self, forced: Ending | None) -> Ended:
        process = self._process
        assert process is not None
        stdin, stdout = self._pipes()
        assert process.stderr is not None
        with contextlib.suppress(BrokenPipeError):
            stdin.close()
        deadline = time.monotonic() + _GRACE_SECONDS
        times = (deadline, cpu_end(self._started, self._limits))
        ending, code = finish(process, forced, times, self._diagnostics)
        kill(process)
        drain(stdout, self._diagnostics)
        self._keeper.join()
        stdout.close()
        process.stderr.close()
        seconds = time.monotonic() - self._started
        self._ended = Ended(
            SandboxOutcome(ending, code, self._diagnostics.text(), seconds),
            read_status(self._launch),
            killed=forced is not None or ending == "timed-out",
        )
        return self._ended

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        return process.stdin, process.stdout


def _spawn_with_pipe(launch: Launch) -> subprocess.Popen[bytes]:
    process = spawn(launch, subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    widen(process.stdin)
    widen(process.stdout)
    flags = fcntl.fcntl(process.stdin, fcntl.F_GETFL)
    fcntl.fcntl(process.stdin, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    return process


def _write_some(descriptor: int, rest: memoryview) -> memoryview:
    """Write what fits; return what is left. A reader that is gone takes everything: its silence tells later."""
    try:
        return rest[os.write(descriptor, rest[:CHUNK]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]


def _readable(pipe: IO[bytes]) -> bool:
    poll = select.poll()
    poll.register(pipe.fileno(), select.POLLIN)
    return any(event & select.POLLIN for _, event in poll.poll(0))
