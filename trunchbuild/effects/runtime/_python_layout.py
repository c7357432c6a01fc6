"""Which files of the host make up the guest's Python, and where they stand in the sandbox."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trunchbuild.core.confinement import Limits, SandboxRequest
from trunchbuild.effects.runtime._libraries import libraries_of

GUEST_FOLDER = Path(__file__).parent.parent.parent / "guest"
GUEST = "/guest"

ENVIRONMENT: Mapping[str, str] = {"TZ": "UTC", "LC_ALL": "C.UTF-8"}

FLAGS = ("-s", "-S", "-P", "-B", "-X", "utf8", "-W", "ignore")
"""No user or site packages, no current folder in the path, no bytecode written. Not `-I`, which ignores
PYTHONHASHSEED."""

# Of the extension modules that the guest may load, those that link more than the C library somewhere.
_LINKING = ("_decimal", "zlib", "binascii", "math")


@dataclass(frozen=True, slots=True)
class PythonLayout:
    """The interpreter that also runs this process, as the sandbox shows it."""

    program: Path
    read_only: Mapping[Path, str]
    hidden: tuple[str, ...]


@cache
def python_layout() -> PythonLayout:
    """Find the interpreter, its standard library (without what is installed into it) and its shared libraries."""
    program = Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    library = Path(os.path.realpath(os.__file__)).parent
    prefix = Path(os.path.realpath(sys.base_prefix))
    relative = library.relative_to(prefix) if library.is_relative_to(prefix) else Path("lib") / library.name
    inside = f"/python/{relative.as_posix()}"
    extensions = [path for name in _LINKING for path in (library / "lib-dynload").glob(f"{name}.*.so")]
    hidden = [name for name in ("site-packages", "dist-packages") if (library / name).is_dir()]
    # Elsewhere no sandbox shows single files yet, and without one the host's own loader finds them.
    libraries = libraries_of([program, *extensions]) if sys.platform == "linux" else {}
    return PythonLayout(
        program,
        {program: f"/python/bin/{program.name}", library: inside, **libraries},
        tuple(f"{inside}/{name}" for name in hidden),
    )


def probe_request() -> SandboxRequest:
    """The program that tries to get out of a sandbox, for `ConfinedSandbox`."""
    layout = python_layout()
    script = GUEST_FOLDER / "probe.py"
    environment = dict(ENVIRONMENT)
    return SandboxRequest(
        (str(layout.program), *FLAGS, f"{GUEST}/probe.py", *environment),
        {**layout.read_only, script: f"{GUEST}/probe.py"},
        environment,
        hidden=layout.hidden,
        limits=Limits(wall_seconds=20.0, cpu_seconds=10, address_space_bytes=1 << 30, output_bytes=1 << 16),
    )
