"""One program in a scratch folder."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

SECONDS = 60.0


class Runner:
    """Runs one program in a scratch folder."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder

    def file(self, name: str, content: bytes) -> str:
        """Write a file for the program; gives its path."""
        path = self._folder / name
        path.write_bytes(content)
        return str(path)

    def __call__(self, arguments: Sequence[str], stdin: bytes) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end."""
        return subprocess.run(  # noqa: S603 - the arguments are ours, the paths absolute
            [self._program, *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=SECONDS,
            cwd=self._folder,
            env=_ENVIRONMENT,
            start_new_session=True,
        )


# Without Z, times in a file of allowed signers are local ones: UTC makes them the same everywhere.
_ENVIRONMENT: Mapping[str, str] = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
