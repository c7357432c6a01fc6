"""Confinement by Landlock and seccomp, for machines where no user namespace can be had.

The guest shares the host's tree, its process numbers and its user: Landlock lets it open only the given files, two
filters refuse every call that would reach anything else. What this cannot hide is said in docs/decisions.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trunchbuild.core.confinement import SandboxOutcome, SandboxRequest
from trunchbuild.effects.sandbox._cures import cure_of
from trunchbuild.effects.sandbox._host_paths import outside_command
from trunchbuild.effects.sandbox._launch import SHELL, Launch, limited, machine
from trunchbuild.effects.sandbox._seccomp import seccomp_program, supported
from trunchbuild.effects.sandbox._seccomp_host import OWN_PID, host_program
from trunchbuild.effects.sandbox._staging import staged
from trunchbuild.errors import Fault

LAUNCHER = Path(__file__).parent / "_landlock_launcher.py"
LABEL = "Landlock and seccomp"

_CREATE_RULESET = 444
_VERSION_FLAG = 1
_LOADER_CACHE = Path("/etc/ld.so.cache")


@dataclass(slots=True)
class Landlock:
    """A `Way`: a launcher of ours that confines itself and becomes the program."""

    cache: Path
    """Where trees without the hidden folders are kept; see `_staging.py`."""
    launcher: Path = LAUNCHER

    @property
    def name(self) -> str:
        """For provenance: `landlock 7`, the version of the kernel's interface."""
        return f"landlock {landlock_state().version}"

    @property
    def identity(self) -> str:
        """The launcher, the interpreter that runs it, and the kernel's version of Landlock."""
        states = (path.stat() for path in (self.launcher, _interpreter()))
        return " ".join([LABEL, str(landlock_state().version), *(f"{one.st_size} {one.st_mtime_ns}" for one in states)])

    @property
    def probe_words(self) -> tuple[str, ...]:
        """The guest may have the user of the host."""
        return ("--own-user",)

    def missing(self) -> Fault | None:
        """Why it cannot be tried: no Linux with Landlock, no filter for this kind of machine."""
        if not supported(machine()):
            return Fault(LABEL, "no system call filter for this machine", "x86_64 or aarch64", machine())
        if not Path(SHELL).exists():
            return Fault(LABEL, f"needs {SHELL} to set limits")
        state = landlock_state()
        if state.version < 1:
            words = f"Landlock: {os.strerror(state.error)}"
            return Fault(LABEL, words, "Linux 5.13 or newer with Landlock", hint=cure_of(words))
        return None

    def launch(self, request: SandboxRequest) -> Launch:
        """The launcher, with its order in a file without a name and a pipe for its report."""
        request, targets = staged(request, self.cache)
        argv, environment = outside_command(request)
        order = {
            "argv": argv,
            "environment": {**environment, "PWD": "/"},
            "files": [*_files(request, targets), *_script_folders(argv[1:], request)],
            "filters": [seccomp_program(machine()), host_program(machine())],
            "own_pid": OWN_PID,
            "machine": machine(),
            "parent": os.getpid(),
        }
        life_read, life_write = os.pipe()
        status_read, status_write = os.pipe()
        with tempfile.TemporaryFile() as file:
            file.write(marshal.dumps(order))
            file.seek(0)
            order_fd = os.dup(file.fileno())
        command = [str(_interpreter()), "-I", "-S", "-B", str(self.launcher), str(order_fd), str(status_write)]
        command = limited(request.limits, command, life_read)
        return Launch(command, {}, (order_fd, status_write, life_read), status_read, life_write)

    def ran(self, status: bytes) -> bool:
        """The launcher got as far as `execve`, and that worked."""
        return status == b"ready\n"

    def setup_fault(self, outcome: SandboxOutcome) -> Fault:
        """The launcher's own words, and what to do about them."""
        words = outcome.diagnostics.strip() or f"ended with {outcome.ending} {outcome.code}"
        return Fault(LABEL, f"could not start: {words}", hint=cure_of(words))


@dataclass(frozen=True, slots=True)
class LandlockState:
    """What the kernel answers to the question for its version."""

    version: int
    """Of Landlock's interface; 0 where it does not offer it."""
    error: int = 0
    """ENOSYS: no such call; EOPNOTSUPP: switched off at boot (landlock_create_ruleset(2)); others: a filter's."""


@cache
def landlock_state() -> LandlockState:
    """Ask the kernel of this machine."""
    if sys.platform != "linux":
        return LandlockState(0, errno.ENOSYS)
    libc = ctypes.CDLL(None, use_errno=True)
    version = int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION_FLAG)))
    return LandlockState(version) if version > 0 else LandlockState(0, ctypes.get_errno() or errno.ENOSYS)


def _interpreter() -> Path:
    """This process's Python without its virtual environment, which `-I -S` would not use anyway."""
    return Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))


def _script_folders(words: list[str], request: SandboxRequest) -> list[tuple[str, str]]:
    """A script's folder may be listed, not read: Python looks for the modules beside a script by their names."""
    hosts = {str(path) for path in request.read_only}
    return [(str(Path(word).parent), "listed") for word in words if word in hosts]


def _files(request: SandboxRequest, targets: dict[Path, str]) -> list[tuple[str, str]]:
    """What the guest may open, and how: as a file, a folder, or a program to be started."""
    program = Path(request.argv[0])
    files = [(str(path), kind) for path, kind in targets.items()]
    for host, inside in request.read_only.items():
        starts = host == program or Path(inside).name.startswith(("ld-linux", "ld-musl", "ld64"))
        files.append((str(host), "folder" if host.is_dir() else "program" if starts else "file"))
    # A program's libraries may stand where only this index tells the loader.
    return [*files, (str(_LOADER_CACHE), "file")] if _LOADER_CACHE.is_file() else files
