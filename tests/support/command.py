"""The command line as a user runs it: another process, its own home folder, standard output and error apart."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Outcome:
    code: int
    out: str
    err: str


def trunchbuild(
    *arguments: str | Path, cwd: Path, home: Path | None = None, environment: Mapping[str, str] | None = None
) -> Outcome:
    """Run `trunchbuild` with these arguments in `cwd`."""
    return python(["-m", "trunchbuild", *map(str, arguments)], cwd=cwd, home=home, environment=environment)


def python(
    arguments: Sequence[str], *, cwd: Path, home: Path | None = None, environment: Mapping[str, str] | None = None
) -> Outcome:
    """Run this interpreter with arguments."""
    surroundings = {
        **os.environ,
        "TRUNCHBUILD_HOME": str(home or cwd.parent / f"{cwd.name}.home"),
        "PYTHONDONTWRITEBYTECODE": "1",
        **(environment or {}),
    }
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=surroundings, capture_output=True, check=False, timeout=120
    )
    return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
