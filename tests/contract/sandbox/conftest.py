"""One suite for every back end: `sandbox` confines, `limited` also includes the one that only limits."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from trunchbuild.core.confinement import Limits, Sandbox, SandboxOutcome, SandboxRequest
from trunchbuild.effects.runtime._python_layout import FLAGS, probe_request, python_layout
from trunchbuild.effects.sandbox._bubblewrap import system_bubblewrap, wheel_bubblewrap
from trunchbuild.effects.sandbox._confined import ConfinedSandbox
from trunchbuild.effects.sandbox._landlock import LAUNCHER, Landlock
from trunchbuild.effects.sandbox._launch import Way
from trunchbuild.effects.sandbox._none import NoSandbox

_TREES = tempfile.TemporaryDirectory(prefix="trees-")
"""What the Landlock way keeps; gone when the tests end."""

WAYS: dict[str, Way] = {
    "bubblewrap of the wheel": wheel_bubblewrap(),
    "bubblewrap of the system": system_bubblewrap(),
    "Landlock": Landlock(Path(_TREES.name)),
}
CONFINING = {name: way for name, way in WAYS.items() if way.missing() is None}
"""The ways that this machine has; the package's own is always among them on Linux."""


def changed_launcher(folder: Path, old: str, new: str) -> Landlock:
    """The Landlock way with one step of its launcher changed."""
    text = LAUNCHER.read_text(encoding="utf-8")
    assert text.count(old) == 1
    changed = folder / "launcher.py"
    changed.write_text(text.replace(old, new), encoding="utf-8")
    return Landlock(folder / "trees", launcher=changed)


ASKS_FOR_VERSION = (
    'syscall("Landlock", CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(VERSION_FLAG))\n    attributes'
)
OLDEST = {"Landlock of Linux 5.13": changed_launcher(Path(_TREES.name), ASKS_FOR_VERSION, "1\n    attributes")}
"""The launcher on a kernel that knows the first version only: no rules for cutting, TCP, devices, sockets, signals."""

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=10, address_space_bytes=1 << 30, output_bytes=1 << 20)


class OneWay(ConfinedSandbox):
    """A sandbox with a single way, and what a guest sees under it."""

    def __init__(self, way: Way) -> None:
        super().__init__([way], probe_request())
        self.shares_tree = isinstance(way, Landlock)
        """Whether the guest sees the host's own tree, user, processes and name, and may open nothing of it."""

    def place(self, host: Path, inside: str) -> str:
        """Where the guest finds a file that was given as `inside`."""
        return str(host) if self.shares_tree else inside


@pytest.fixture(params=[*CONFINING, *OLDEST], scope="session")
def sandbox(request: pytest.FixtureRequest) -> OneWay:
    return OneWay({**CONFINING, **OLDEST}[request.param])


@pytest.fixture(params=[*CONFINING, "none"], scope="session")
def limited(request: pytest.FixtureRequest) -> Sandbox:
    return NoSandbox() if request.param == "none" else OneWay(CONFINING[request.param])


@dataclass(frozen=True, slots=True)
class Run:
    """What a guest said and how it ended."""

    outcome: SandboxOutcome
    output: bytes


def request_for(
    code: str,
    limits: Limits = LIMITS,
    read_only: Mapping[Path, str] | None = None,
    environment: Mapping[str, str] | None = None,
    words: Sequence[str] = (),
) -> SandboxRequest:
    """The guest's Python with a program on its command line, and further words."""
    layout = python_layout()
    return SandboxRequest(
        (str(layout.program), *FLAGS, "-u", "-c", code, *words),
        {**layout.read_only, **(read_only or {})},
        environment or {},
        hidden=layout.hidden,
        limits=limits,
    )


def run_python(sandbox: Sandbox, code: str, stdin: bytes = b"", **changes: object) -> Run:
    """Run a program to its end; `changes` are fields of the request."""
    known = {key: changes.pop(key) for key in ("limits", "read_only", "environment", "words") if key in changes}
    request = replace(request_for(code, **known), **changes)  # type: ignore[arg-type]
    output: list[bytes] = []
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        outcome = sandbox.run(request, file, output.append)
    return Run(outcome, b"".join(output))


ATTEMPT = """
def attempt(action):
    try:
        print("did", action())
    except BaseException as error:
        print(type(error).__name__)
"""
"""Prints the name of the error that an attempt ends with, or `did`."""
