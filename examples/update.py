#!/usr/bin/env python3
"""Make the exports, receipts, report and lockfiles of all examples again, or check them.

    python examples/update.py            write what a deliberate change to an example needs
    python examples/update.py --check    write nothing; exit 1 if anything would change

Needs trunchbuild installed for this Python, and `git`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from make_repository import make_repository  # noqa: E402

LOCKFILES = HERE.parent / "lockfiles"


def examples() -> list[Path]:
    """Every folder that holds a benchmark config."""
    return sorted({path.parent for path in HERE.glob("*/benchmark.config.*")})


def trunchbuild(*arguments: str | Path, home: Path) -> int:
    """Run a command with a store of its own; return its exit code."""
    command = [sys.executable, "-m", "trunchbuild", *map(str, arguments)]
    return subprocess.run(command, env=os.environ | {"TRUNCHBUILD_HOME": str(home)}, check=False).returncode


def main(check: bool) -> int:
    """Go through the batch and then every example; the first exit code that is not 0 is the result."""
    codes = []
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary) / "home"
        batch = ["transform-batch", HERE / "transform-batch.json"]
        codes.append(trunchbuild(*batch, *(["--check"] if check else []), home=home))
        for folder in examples():
            repository = Path(temporary) / folder.name
            make_repository(folder, repository)
            way = "--locked" if check else "--update"
            codes.append(trunchbuild("compile", f"{repository}@HEAD", "--out", LOCKFILES, way, home=home))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit("usage: python examples/update.py [--check]")
    sys.exit(main(check=bool(sys.argv[1:])))
