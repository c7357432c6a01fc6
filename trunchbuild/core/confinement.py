"""The shared words for confining a program: what a sandbox is asked and what it answers.

They stand in `core` because two effects meet here: the runtime needs a sandbox, and effects never import one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, Protocol

from trunchbuild.errors import MachineError

UNCONFINED = "none (unsafe)"
"""The name of the sandbox that is none; provenance carries it, and `verify` looks for it."""

Ending = Literal["exited", "signalled", "timed-out", "cpu-limit", "out-of-memory", "too-much-output"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; a limit that is hit ends the run and is named in its outcome."""

    wall_seconds: float = 60.0
    cpu_seconds: int = 60
    address_space_bytes: int = 4 << 30
    output_bytes: int = 512 << 20
    """Standard output; standard error is kept to `diagnostics_bytes` and the rest is drained and dropped."""
    diagnostics_bytes: int = 64 << 10
    open_files: int = 64


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """One program.

    `argv[0]` is an absolute path of the host that `read_only` makes visible. `read_only` maps host path -> path inside;
    files and folders. `environment` is all of it (bubblewrap adds PWD, the
    `workdir`). `hostname` and `workdir` may vary from run to run.
    """

    argv: Sequence[str]
    read_only: Mapping[Path, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    hostname: str = "sandbox"
    workdir: str = "/"
    hidden: Sequence[str] = ()
    """Folders inside that are shown empty although a folder of `read_only` holds them."""
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class SandboxOutcome:
    """How the guest ended. A sandbox that cannot start raises instead."""

    ending: Ending
    code: int
    """Exit code, or the number of the signal."""
    diagnostics: str
    """The first `diagnostics_bytes` of standard error, decoded with replacement."""
    wall_seconds: float


class SandboxUnavailableError(MachineError):
    """No way of confinement works on this machine; each way that was tried is a fault with its reason and cure."""

    slug = "sandbox-unavailable"


class GuestEndedError(Exception):
    """A confined process that should have answered is gone. Not for users: the runtime turns it into a message."""

    def __init__(self, outcome: SandboxOutcome) -> None:
        self.outcome = outcome
        super().__init__(outcome.ending)


class SandboxProcess(Protocol):
    """A confined process that is spoken to line by line; leaving its context kills it and all that it started."""

    def exchange(self, line: bytes, *, timeout_seconds: float) -> bytes:
        r"""Send one line (without `\n`) and return the one line that comes back.

        Raises:
            GuestEndedError: The process ended, exceeded a limit or did not answer in time; it is dead afterwards.
        """
        ...

    def outcome(self) -> SandboxOutcome:
        """Kill the process if it lives, and say how it ended."""
        ...


class Sandbox(Protocol):
    """A way of confinement; the same promises on every back end (`tests/contract/sandbox`)."""

    @property
    def name(self) -> str:
        """For provenance: `bubblewrap 0.11.0`, `none (unsafe)` ..."""
        ...

    def run(self, request: SandboxRequest, stdin: IO[bytes], on_output: Callable[[bytes], None]) -> SandboxOutcome:
        """Run to the end. `stdin` is a real file positioned at its start; `on_output` gets chunks as they come.

        Raises:
            SandboxUnavailableError: The sandbox could not be set up; each failed way with reason and cure.
        """
        ...

    def start(self, request: SandboxRequest) -> AbstractContextManager[SandboxProcess]:
        """Start a process that answers lines; `limits.wall_seconds` does not apply, each exchange has its own."""
        ...
