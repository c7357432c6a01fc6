"""No confinement at all, for people who ask for exactly that: resource limits only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from trunchbuild.core.confinement import UNCONFINED, SandboxOutcome, SandboxProcess, SandboxRequest
from trunchbuild.effects.sandbox._host_paths import outside_command
from trunchbuild.effects.sandbox._launch import Launch, limited
from trunchbuild.effects.sandbox._lines import LineProcess
from trunchbuild.effects.sandbox._process import run_to_end


class NoSandbox:
    """Implements `Sandbox` without confining: the guest can do whatever the user can."""

    name = UNCONFINED

    def run(self, request: SandboxRequest, stdin: IO[bytes], on_output: Callable[[bytes], None]) -> SandboxOutcome:
        """Run to the end."""
        return run_to_end(_launch(request), request.limits, stdin, on_output).outcome

    @contextmanager
    def start(self, request: SandboxRequest) -> Iterator[SandboxProcess]:
        """Start a process that answers lines."""
        with LineProcess(_launch(request), request.limits) as process:
            yield process


def _launch(request: SandboxRequest) -> Launch:
    argv, environment = outside_command(request)
    return Launch(limited(request.limits, argv), environment)
