"""Confinement on macOS by `sandbox-exec` and a Seatbelt profile.

It was never run on a Mac: the profile's text is tested, and the probe decides on each machine whether it holds. The
profile denies everything and allows reading what the request names. A guest sees the host's own tree, as with
Landlock; names of hosts, processes and files that it may not open can show.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from trunchbuild.core.confinement import SandboxOutcome, SandboxRequest
from trunchbuild.effects.sandbox._host_paths import outside_command
from trunchbuild.effects.sandbox._launch import Launch, limited
from trunchbuild.errors import Fault

PROGRAM = Path("/usr/bin/sandbox-exec")
LABEL = "Seatbelt (sandbox-exec)"

# What every program needs before its first line: the loader, the system's libraries and their shared cache.
_SYSTEM_FOLDERS = ("/usr/lib", "/System/Library", "/System/Volumes/Preboot/Cryptexes", "/private/var/db/dyld")
_BASH = "/bin/bash"
_ENV = "/usr/bin/env"


@dataclass(slots=True)
class Seatbelt:
    """A `Way`: the system's own sandbox under a profile of ours."""

    program: Path = PROGRAM

    @property
    def name(self) -> str:
        """For provenance."""
        return "seatbelt"

    @property
    def identity(self) -> str:
        """State of the program."""
        state = self.program.stat()
        return f"{self.program} {state.st_size} {state.st_mtime_ns}"

    @property
    def probe_words(self) -> tuple[str, ...]:
        """The guest has the user of the host."""
        return ("--own-user",)

    def missing(self) -> Fault | None:
        """Why it cannot be tried."""
        if not self.program.exists():
            return Fault(LABEL, "not installed", expected=str(self.program))
        return None

    def launch(self, request: SandboxRequest) -> Launch:
        """The command; everything it needs is on its command line.

        `sandbox-exec` does not say whether the program ran, so a shell inside the sandbox writes on `status_fd` before
        it becomes the program. Bash, since other shells take one-digit descriptors only.
        """
        argv, environment = outside_command(request)
        life_read, life_write = os.pipe()
        status_read, status_write = os.pipe()
        words = [f"{name}={value}" for name, value in {**environment, "PWD": "/"}.items()]
        inner = f'echo ready >&{status_write}; exec {status_write}>&- {life_read}<&-; exec "$@"'
        command = [
            *(str(self.program), "-p", profile(request)),
            *(_BASH, "-c", inner, "bash", _ENV, "-i", *words, *argv),
        ]
        command = limited(request.limits, command, life_read)
        return Launch(command, {}, (status_write, life_read), status_read, life_write)

    def ran(self, status: bytes) -> bool:
        """The shell inside the sandbox wrote its word."""
        return status == b"ready\n"

    def setup_fault(self, outcome: SandboxOutcome) -> Fault:
        """What `sandbox-exec` said."""
        words = outcome.diagnostics.strip() or f"ended with {outcome.ending} {outcome.code}"
        return Fault(LABEL, f"could not start: {words}")


def profile(request: SandboxRequest) -> str:
    """The profile: deny by default; read the given files; start the given program and the shell that becomes it.

    Later rules win over earlier ones, so hidden folders are denied after the folders that hold them are allowed.
    """
    inside_to_host = {inside: host for host, inside in request.read_only.items()}
    rules = [
        "(version 1)",
        "(deny default)",
        "(deny network*)",
        "(deny file-write*)",
        "(deny process-fork)",
        "(deny signal)",
        "(allow signal (target self))",
        "(allow sysctl-read)",
        f"(allow process-exec {_literal(request.argv[0])} {_literal(_BASH)} {_literal(_ENV)})",
        *(f"(allow file-read* {_subpath(folder)})" for folder in _SYSTEM_FOLDERS),
        f"(allow file-read* {_literal(_BASH)} {_literal(_ENV)})",
        f"(allow file-read-metadata {_literal('/')})",
    ]
    for host in request.read_only:
        rules.append(f"(allow file-read* {_subpath(str(host)) if host.is_dir() else _literal(str(host))})")
        # A program may ask about the folders on the way to its files, not list them.
        rules += [f"(allow file-read-metadata {_literal(str(parent))})" for parent in host.parents]
    for hidden in request.hidden:
        rules.append(f"(deny file-read* {_subpath(_host_of(hidden, inside_to_host))})")
    return "\n".join(rules) + "\n"


def _host_of(hidden: str, inside_to_host: dict[str, Path]) -> str:
    for inside, host in inside_to_host.items():
        if hidden == inside or hidden.startswith(f"{inside}/"):
            return f"{host}{hidden[len(inside) :]}"
    return hidden


def _literal(path: str) -> str:
    return f"(literal {_quoted(path)})"


def _subpath(path: str) -> str:
    return f"(subpath {_quoted(path)})"


def _quoted(path: str) -> str:
    """A string of the profile language: Scheme's, where a backslash escapes itself and the quotation mark.

    Raises:
        ValueError: The path holds a character that no profile can hold.
    """
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in path):
        raise ValueError(f"a path with a control character cannot stand in a profile: {path!r}")
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
