"""What a way of confinement hands to the code that runs processes."""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from trunchbuild.core.confinement import Limits, SandboxOutcome, SandboxRequest
from trunchbuild.errors import Fault

SHELL = "/bin/sh"

DESCRIPTORS = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
"""Where a process finds its own descriptors by name."""

_SPARE_THREADS = 4096
_LOAD = Path("/proc/loadavg")

HARD_CPU_SECONDS = 2
"""By how much the hard limit of CPU time lies above the soft one."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that sets up the confinement and then becomes the program. Open descriptors belong to the receiver."""

    argv: Sequence[str]
    environment: dict[str, str]
    pass_fds: tuple[int, ...] = ()
    """Closed in this process as soon as the command has started."""
    status_fd: int = -1
    """Read end of a pipe on which the confinement reports that the program ran; -1 where there is none."""
    lifeline_fd: int = -1
    """Write end of a pipe: the command and all that it started may live as long as it is open. -1: not watched."""
    workdir: str = "/"

    def close(self) -> None:
        """Close what was opened for the command; for one that never started."""
        for descriptor in (*self.pass_fds, self.status_fd, self.lifeline_fd):
            if descriptor >= 0:
                os.close(descriptor)


class Way(Protocol):
    """One way of confinement."""

    @property
    def name(self) -> str:
        """For provenance."""
        ...

    @property
    def identity(self) -> str:
        """What a remembered probe depends on: the tool's file and its state."""
        ...

    @property
    def probe_words(self) -> tuple[str, ...]:
        """What the probe is told of this way, as further words of its command."""
        ...

    def missing(self) -> Fault | None:
        """Why this way cannot even be tried here."""
        ...

    def launch(self, request: SandboxRequest) -> Launch:
        """The command for one program."""
        ...

    def ran(self, status: bytes) -> bool:
        """Whether the report on `Launch.status_fd` says that the program was started."""
        ...

    def setup_fault(self, outcome: SandboxOutcome) -> Fault:
        """What a failed set-up means, and its cure."""
        ...


def limited(limits: Limits, argv: Sequence[str], lifeline: int | None = None) -> list[str]:
    """The command under resource limits: a shell outside the confinement sets them and becomes the command.

    Before that it leaves a process behind that reads from `lifeline`, the read end of a pipe. When all write ends are
    closed, however this process ended, it kills the command's whole process group. The kernel's own signal at the
    parent's death is not enough: bubblewrap asks for it in several processes, one after the other, and does not look
    whether the parent still lives.

    Setting them between fork and exec would need Python code in the child of a process with threads.
    A hard limit of the user that is already lower stays.

    The number of threads counts all of the user's processes, so its limit lies above what runs on the whole machine
    now: a guest cannot use up the machine's process numbers. The kernel exempts root (`copy_process` in kernel/fork.c).
    """
    threads = _threads()
    soft_cpu = _capped(resource.RLIMIT_CPU, limits.cpu_seconds)
    hard_cpu = _capped(resource.RLIMIT_CPU, limits.cpu_seconds + HARD_CPU_SECONDS)
    script = "\n".join(
        [
            *([] if lifeline is None else [_watcher(lifeline)]),
            "ulimit -c 0",
            "ulimit -f 0",
            # Bash calls it -u, dash -p.
            *([f"ulimit -u {threads} 2>/dev/null || ulimit -p {threads}"] if threads else []),
            f"ulimit -n {_capped(resource.RLIMIT_NOFILE, limits.open_files)}",
            f"ulimit -v {_capped(resource.RLIMIT_AS, limits.address_space_bytes) // 1024}",
            # The soft limit ends the guest by SIGXCPU, which names the reason; the hard one cannot be caught.
            f"ulimit -S -t {soft_cpu}",
            f"ulimit -H -t {hard_cpu}",
            'exec "$@"',
        ]
    )
    return [SHELL, "-c", f"set -e\n{script}", "limited", *argv]


def _watcher(lifeline: int) -> str:
    """A line of shell: wait for the end of a pipe in the background, then kill the own process group.

    Dash knows descriptors of one digit only, so the pipe is opened by its name. On Linux that waits for a writer, and
    the writers may be gone: descriptor 3 is one for as long as the opening takes.
    """
    name = f"{DESCRIPTORS}/{lifeline}"
    opened = f"3<>{name} 4<{name} 3>&-" if sys.platform == "linux" else f"4<{name}"
    return f"(exec {opened}; read -r _ <&4 || kill -9 0) </dev/null >/dev/null 2>&1 &"


def _threads() -> int:
    """How many threads the user may have; 0 where the machine does not say how many run."""
    try:
        running = int(_LOAD.read_text(encoding="ascii").split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 0
    return _capped(resource.RLIMIT_NPROC, running + _SPARE_THREADS)


def _capped(kind: int, wanted: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def inside_path(host: str, request: SandboxRequest) -> str:
    """Where the guest finds a file of the host that `read_only` makes visible."""
    path = Path(host)
    for folder, inside in request.read_only.items():
        if path == folder:
            return inside
        if path.is_relative_to(folder):
            return str(PurePosixPath(inside) / path.relative_to(folder).as_posix())
    raise ValueError(f"{host} is not visible in the sandbox")


def machine() -> str:
    """`uname -m` in one spelling."""
    name = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)
