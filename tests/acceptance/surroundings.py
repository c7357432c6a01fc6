"""The command line in surroundings of another kind: another user, another umask, a plain shell."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command import Outcome
from tests.support.shared_data import CHECKOUT

NOBODY = 65534
_AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env")
"""`setpriv` itself still has root's rights when it starts a program; `env` has none left."""


@dataclass(frozen=True)
class Surroundings:
    """Where and as whom a command runs."""

    folder: Path
    home: Path
    environment: Mapping[str, str]
    """All of it: nothing else of this process's is passed on."""
    interpreter: Sequence[str] = (sys.executable,)
    umask: str = "022"

    def run(self, *arguments: str) -> Outcome:
        """Run `trunchbuild`."""
        command = [
            *("sh", "-c", f'umask {self.umask} && exec "$@"', "sh"),
            *(*self.interpreter, "-m", "trunchbuild", *arguments),
        ]
        environment = {"TRUNCHBUILD_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", **self.environment}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, check=False, timeout=240)
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def bash(script: str, folder: Path) -> Outcome:
    """Run a script that stops at the first failure, also within a pipe."""
    command = ["bash", "-c", f"set -euo pipefail\n{script}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


@contextmanager
def another_user(environment: Mapping[str, str]) -> Iterator[Surroundings]:
    """A folder of the user `nobody` and a way to run commands there; skips where only root may help and we are not.

    This interpreter may stand where only its owner can go. Then the system's own of the same version runs the same
    packages.
    """
    interpreter = _interpreter_for_nobody()
    folder = Path(tempfile.mkdtemp(prefix="nobody-"))
    try:
        os.chown(folder, NOBODY, NOBODY)
        python_path = {"PYTHONPATH": os.pathsep.join(_packages())}
        yield Surroundings(folder, folder / "home", {**environment, **python_path}, interpreter, umask="077")
    finally:
        shutil.rmtree(folder)


def _packages() -> list[str]:
    return [sysconfig.get_paths()["purelib"], str(CHECKOUT)]


@functools.cache
def _interpreter_for_nobody() -> tuple[str, ...]:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user")
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, system):
        command = [*_AS_NOBODY, program, "-c", "import click, dulwich, trunchbuild.cli.wiring"]
        environment = {"PYTHONPATH": os.pathsep.join(_packages()), "PYTHONDONTWRITEBYTECODE": "1"}
        if subprocess.run(command, cwd="/", env=environment, capture_output=True, check=False).returncode == 0:
            return (*_AS_NOBODY, program)
    pytest.skip("no Python of this version, or not this checkout, is open to another user")
