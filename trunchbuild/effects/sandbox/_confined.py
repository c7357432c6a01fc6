"""The sandbox: the first way of confinement that was seen to hold on this machine, or a refusal."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from trunchbuild.core.confinement import (
    GuestEndedError,
    SandboxOutcome,
    SandboxProcess,
    SandboxRequest,
    SandboxUnavailableError,
)
from trunchbuild.effects.sandbox._launch import Way, machine
from trunchbuild.effects.sandbox._lines import LineProcess
from trunchbuild.effects.sandbox._process import Ended, run_to_end
from trunchbuild.effects.sandbox._seccomp import seccomp_program, supported
from trunchbuild.errors import Fault

CONFINED = b"confined\n"
"""What the probe prints when every attempt to get out failed."""

_EXPLANATION = "no way of confining untrusted code works on this machine"
_HINT = (
    "one of the cures above is needed. `--unsafe-no-sandbox` runs the repository's code with all the rights of your"
    " user; only for code that you wrote yourself"
)


class ConfinedSandbox:
    """Implements `Sandbox`.

    `ways` are tried in order. Each is believed only after a real run of `probe`, a program that tries to get out. That
    a way held is remembered in `memory` until the next boot or until the tool, the filter or the probe changes; that it
    did not hold is never remembered.
    """

    def __init__(self, ways: Sequence[Way], probe: SandboxRequest, memory: Path | None = None) -> None:
        self._ways = ways
        self._probe = probe
        self._memory = memory
        self._lock = threading.Lock()
        self._chosen: tuple[Way, str] | None = None

    @property
    def name(self) -> str:
        """The chosen way."""
        return self._choose()[1]

    def run(self, request: SandboxRequest, stdin: IO[bytes], on_output: Callable[[bytes], None]) -> SandboxOutcome:
        """Run to the end."""
        way, _ = self._choose()
        ended = run_to_end(way.launch(request), request.limits, stdin, on_output)
        self._insist(way, ended)
        return ended.outcome

    @contextmanager
    def start(self, request: SandboxRequest) -> Iterator[SandboxProcess]:
        """Start a process that answers lines."""
        way, _ = self._choose()
        with LineProcess(way.launch(request), request.limits) as process:
            try:
                yield process
            except GuestEndedError:
                self._insist(way, process.ended())
                raise
        self._insist(way, process.ended())

    def _insist(self, way: Way, ended: Ended) -> None:
        """A program that never ran was not confined either: refuse, and do not trust the memory again."""
        if not _ran(way, ended):
            for file in self._remembered_files():
                file.unlink(missing_ok=True)
            raise SandboxUnavailableError(_EXPLANATION, faults=[way.setup_fault(ended.outcome)], hint=_HINT)

    def _choose(self) -> tuple[Way, str]:
        with self._lock:
            if self._chosen is None:
                self._chosen = self._first_that_holds()
            return self._chosen

    def _first_that_holds(self) -> tuple[Way, str]:
        faults: list[Fault] = []
        for way in self._ways:
            fault = way.missing()
            if fault is None:
                remembered = self._recall(way)
                if remembered is not None:
                    return way, remembered
                fault = self._try(way)
            if fault is None:
                self._remember(way)
                return way, way.name
            faults.append(fault)
        raise SandboxUnavailableError(_EXPLANATION, faults=faults, hint=_HINT)

    def _try(self, way: Way) -> Fault | None:
        """Run the probe; None when it could not get out."""
        output: list[bytes] = []
        probe = replace(self._probe, argv=(*self._probe.argv, *way.probe_words))
        with tempfile.TemporaryFile() as nothing:
            try:
                ended = run_to_end(way.launch(probe), self._probe.limits, nothing, output.append)
            except OSError as error:
                return Fault(way.setup_fault(_not_started(error)).place, f"could not start: {error}")
        if not _ran(way, ended):
            return way.setup_fault(ended.outcome)
        said = b"".join(output)
        if ended.outcome.ending != "exited" or ended.outcome.code != 0 or said != CONFINED:
            words = said.decode("utf-8", "replace").strip() or ended.outcome.diagnostics.strip()
            return Fault(
                way.setup_fault(ended.outcome).place,
                "does not hold: the probe could do what no guest may do",
                got=words or f"{ended.outcome.ending} {ended.outcome.code}",
            )
        return None

    def _recall(self, way: Way) -> str | None:
        """The name under which this way held since the last boot."""
        if self._memory is None:
            return None
        try:
            return (self._memory / self._key(way)).read_text(encoding="utf-8") or None
        except OSError:
            return None

    def _remember(self, way: Way) -> None:
        """Note that the way held. A note that cannot be written costs a probe next time, nothing else."""
        if self._memory is None:
            return
        with contextlib.suppress(OSError):
            self._memory.mkdir(parents=True, exist_ok=True)
            for file in self._remembered_files():
                file.unlink(missing_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._memory, delete=False, encoding="utf-8") as note:
                note.write(way.name)
            Path(note.name).replace(self._memory / self._key(way))

    def _remembered_files(self) -> list[Path]:
        return list(self._memory.glob("*")) if self._memory is not None and self._memory.is_dir() else []

    def _key(self, way: Way) -> str:
        """What the belief depends on: boot, kernel, user, tool, filter, probe."""
        name = machine()
        parts = [
            Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"),
            platform.release(),
            str(os.geteuid()),
            way.identity,
            seccomp_program(name).hex() if supported(name) else "",
            repr(self._probe),
            *(_state(path) for path in self._probe.read_only),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _ran(way: Way, ended: Ended) -> bool:
    """Whether the program itself ran: the confinement says so, or we had to kill it."""
    return ended.killed or way.ran(ended.status)


def _state(path: Path) -> str:
    state = path.stat()
    return f"{path} {state.st_size} {state.st_mtime_ns}"


def _not_started(error: OSError) -> SandboxOutcome:
    return SandboxOutcome("exited", 127, str(error), 0.0)
