"""No confinement at all, for people who ask for exactly that: resource limits only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from trunchbuild.core.confinement import SandboxOutcome, SandboxProcess, SandboxRequest
from trunchbuild.effects.sandbox._launch import Launch, limited
from trunchbuild.effects.sandbox._lines import LineProcess
from trunchbuild.effects.sandbox._process import run_to_end


class NoSandbox:
    """Implements `Sandbox` without confining: the guest can do whatever the user can."""

    name = "none (unsafe)"

    def run(self, request: SandboxRequest, stdin: IO[bytes], on_output: Callable[[bytes], None]) -> SandboxOutcome:
        """Run to the end."""
        return run_to_end(_launch(request), request.limits, stdin, on_output).outcome

    @contextmanager
    def start(self, request: SandboxRequest) -> Iterator[SandboxProcess]:
        """Start a process that answers lines."""
        with LineProcess(_launch(request), request.limits) as process:
            yield process


def _launch(request: SandboxRequest) -> Launch:
    argv = [request.argv[0], *(_outside(word, request) for word in request.argv[1:])]
    environment = {name: _outside(value, request) for name, value in request.environment.items()}
    return Launch(limited(request.limits, argv), environment)


def _outside(word: str, request: SandboxRequest) -> str:
    """The word with a path of the sandbox replaced by the host's; `--option=PATH` too."""
    option, equals, value = word.rpartition("=")
    for host, inside in request.read_only.items():
        if value == inside or value.startswith(f"{inside}/"):
            return f"{option}{equals}{Path(host)}{value[len(inside) :]}"
    return word
