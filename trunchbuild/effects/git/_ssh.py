"""`ssh` as a child that is never waited for without end: not for its words, not for its ear, not for its exit."""

from __future__ import annotations

import io
import os
import select
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import IO, TYPE_CHECKING

from dulwich.client import SSHGitClient, SSHVendor
from dulwich.errors import GitProtocolError

from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git._meter import Meter

if TYPE_CHECKING:
    from dulwich.protocol import Protocol

_CHUNK = 64 << 10
_STDERR_BYTES = 64 << 10
"""How much of what `ssh` says for people is kept."""
_EXIT_SECONDS = 10.0
"""Between the end of the talk and the end of the program."""


class SshClient(SSHGitClient):
    """One repository through `ssh`."""

    def __init__(self, address: RepoAddress, *, ssh_command: str | None, meter: Meter) -> None:
        assert address.host is not None
        self._opened: list[Protocol] = []
        super().__init__(
            address.host.strip("[]"),
            port=address.port,
            username=address.login.user if address.login else None,
            vendor=_Vendor(meter),
            ssh_command=ssh_command,
            thin_packs=False,
        )

    def _connect(
        self, cmd: bytes, path: str | bytes, protocol_version: int | None = None
    ) -> tuple[Protocol, Callable[[], bool], IO[bytes] | None]:
        """Start `ssh`, and remember it: dulwich leaves it running where an answer makes no sense."""
        connected = super()._connect(cmd, path, protocol_version)
        self._opened.append(connected[0])
        return connected

    @contextmanager
    def talk(self) -> Iterator[None]:
        """One request and its answer; what still runs after it is ended. Each wait within has its own end."""
        try:
            yield
        finally:
            self._end()

    def _end(self) -> None:
        while self._opened:
            with suppress(OSError, ValueError, GitProtocolError):
                self._opened.pop().close()


class _Vendor(SSHVendor):
    """Starts `ssh`. What stands earlier in `ssh_command` wins over the options here (`man ssh_config`)."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def run_command(  # type: ignore[override]  # noqa: PLR0917 - dulwich's own order
        self,
        host: str,
        command: bytes,
        username: str | None = None,
        port: int | None = None,
        password: str | None = None,  # noqa: ARG002 - addresses with one are refused
        key_filename: str | None = None,  # noqa: ARG002 - `ssh` knows the user's keys
        ssh_command: str | None = None,
        protocol_version: int | None = None,
    ) -> SshConnection:
        """Start it; the caller closes it."""
        arguments = [*(shlex.split(ssh_command) if ssh_command else ["ssh"]), "-x"]
        if port:
            arguments += ["-p", str(port)]
        arguments += ["-o", f"ConnectTimeout={max(int(self._meter.limits.connect_seconds), 1)}"]
        if protocol_version is None or protocol_version > 0:
            arguments += ["-o", f"SetEnv GIT_PROTOCOL=version={protocol_version or 2}"]
        arguments.append(f"{username}@{host}" if username else host)
        pipe = subprocess.PIPE
        process = subprocess.Popen([*arguments, command], bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe)  # noqa: S603
        return SshConnection(process, self._meter)


class SshConnection:
    """What dulwich reads and writes. What `ssh` says for people is taken in passing, so that it never blocks."""

    def __init__(self, process: subprocess.Popen[bytes], meter: Meter) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._meter = meter
        self._in, self._out, self._err = process.stdin, process.stdout, process.stderr
        os.set_blocking(self._in.fileno(), False)
        self._buffer = bytearray()
        self._said = bytearray()
        self._said_all = False

    @property
    def stderr(self) -> IO[bytes]:
        """What `ssh` said for people, to its end or to the limit; dulwich looks for the cause of a failure there."""
        return _Late(self._rest_of_said)

    def read(self, size: int) -> bytes:
        """As many bytes, fewer only at the end.

        Raises:
            GitProtocolError: They do not come in time, or there are too many without an object.
        """
        while len(self._buffer) < size:
            self._wait(self._out, select.POLLIN)
            chunk = os.read(self._out.fileno(), _CHUNK)
            if not chunk:
                break
            self._buffer += chunk
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._meter.count(len(taken))
        return taken

    def write(self, data: bytes) -> int:
        """Send all of it.

        Raises:
            GitProtocolError: It is not taken in time.
        """
        left = memoryview(data)
        while left:
            self._wait(self._in, select.POLLOUT)
            with suppress(BlockingIOError):
                left = left[os.write(self._in.fileno(), left[:_CHUNK]) :]
        return len(data)

    def can_read(self) -> bool:
        """Whether something is there already."""
        return bool(self._buffer) or self._ready(self._out, select.POLLIN, 0.0)

    def close(self) -> None:
        """Say that nothing more comes, and end what does not end by itself."""
        for pipe in (self._in, self._out, self._err):
            with suppress(OSError):
                pipe.close()
        try:
            self._process.wait(min(_EXIT_SECONDS, self._meter.patience()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait(self, pipe: IO[bytes], event: int) -> None:
        if not self._ready(pipe, event, self._meter.patience()):
            raise self._meter.impatient()

    def _ready(self, pipe: IO[bytes], event: int, seconds: float) -> bool:
        """Whether the pipe is ready in time; noise on standard error is no answer and gives no more time."""
        end = monotonic() + seconds
        while True:
            poll = select.poll()
            poll.register(pipe, event)
            if not self._said_all:
                poll.register(self._err, select.POLLIN)
            events = dict(poll.poll(max(end - monotonic(), 0.0) * 1000))
            if pipe.fileno() in events:
                return True
            if self._err.fileno() in events:
                self._take_said()
            if monotonic() >= end:
                return False

    def _take_said(self) -> None:
        chunk = os.read(self._err.fileno(), _CHUNK)
        self._said_all = not chunk
        self._said += chunk[: _STDERR_BYTES - len(self._said)]

    def _rest_of_said(self) -> bytes:
        """The talk is over; `ssh` says why on its way out. A connection that it shares may keep the pipe open."""
        while not self._said_all and len(self._said) < _STDERR_BYTES:
            poll = select.poll()
            poll.register(self._err, select.POLLIN)
            if not poll.poll(min(_EXIT_SECONDS, self._meter.patience()) * 1000):
                break
            self._take_said()
        return bytes(self._said)


class _Late(io.BytesIO):
    """Bytes that are asked for when they are read."""

    def __init__(self, take: Callable[[], bytes]) -> None:
        super().__init__()
        self._take = take

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:  # noqa: ARG002
        """All lines."""
        return self._take().splitlines(keepends=True)
