#!/usr/bin/env python3
"""Turn an example folder into a Git repository with one commit, the same commit id on every machine.

    python examples/make_repository.py examples/small-sums /tmp/small-sums

Author, date, message, branch, file modes and object format are fixed, and no Git configuration is read.
Needs `git` and the standard library.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

WHO = b"Example Author <author@example.invalid> 1700000000 +0000"
MESSAGE = b"Add the benchmark\n"


def make_repository(folder: Path, destination: Path) -> str:
    """Write the repository and check its files out; return the commit's full id. The destination must be empty."""
    destination.mkdir(parents=True, exist_ok=True)
    if any(destination.iterdir()):
        raise SystemExit(f"error: {destination} is not empty")
    stream = b"commit refs/heads/main\nauthor %s\ncommitter %s\ndata %d\n%s" % (WHO, WHO, len(MESSAGE), MESSAGE)
    for path in files_of(folder):
        name, content = path.relative_to(folder).as_posix().encode(), path.read_bytes()
        stream += b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(content), content)
    git(destination, "init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main")
    git(destination, "fast-import", "--quiet", "--date-format=raw", stdin=stream)
    git(destination, "reset", "--quiet", "--hard", "main")
    return git(destination, "rev-parse", "main")


def files_of(folder: Path) -> list[Path]:
    """The folder's files in a fixed order; nothing hidden and no caches."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    kept = [path for path in found if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)]
    return sorted(kept, key=lambda path: path.relative_to(folder).as_posix())


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run `git` in the folder without any configuration of the user or the machine; return what it prints."""
    nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], input=stdin, env=kept | nothing, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"error: git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode().strip()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python examples/make_repository.py FOLDER DESTINATION")
    print(make_repository(Path(sys.argv[1]), Path(sys.argv[2])))
