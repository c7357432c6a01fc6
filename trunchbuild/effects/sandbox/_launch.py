"""What a way of confinement hands to the code that runs processes."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from trunchbuild.core.confinement import Limits, SandboxOutcome, SandboxRequest
from trunchbuild.errors import Fault

SHELL = "/bin/sh"

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
    workdir: str = "/"

    def close(self) -> None:
        """Close what was opened for the command; for one that never started."""
        for descriptor in (*self.pass_fds, self.status_fd):
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


def limited(limits: Limits, argv: Sequence[str]) -> list[str]:
    """The command under resource limits: a shell outside the confinement sets them and becomes the command.

    Setting them between fork and exec would need Python code in the child of a process with threads.
    A hard limit of the user that is already lower stays.
    """
    soft_cpu = _capped(resource.RLIMIT_CPU, limits.cpu_seconds)
    hard_cpu = _capped(resource.RLIMIT_CPU, limits.cpu_seconds + HARD_CPU_SECONDS)
    script = "; ".join(
        [
            "ulimit -c 0",
            "ulimit -f 0",
            f"ulimit -n {_capped(resource.RLIMIT_NOFILE, limits.open_files)}",
            f"ulimit -v {_capped(resource.RLIMIT_AS, limits.address_space_bytes) // 1024}",
            # The soft limit ends the guest by SIGXCPU, which names the reason; the hard one cannot be caught.
            f"ulimit -S -t {soft_cpu}",
            f"ulimit -H -t {hard_cpu}",
            'exec "$@"',
        ]
    )
    return [SHELL, "-c", f"set -e; {script}", "limited", *argv]


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
