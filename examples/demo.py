#!/usr/bin/env python3
"""`make demo`: the whole way from a folder to graded results, with the commands that anyone would type.

Everything is written below `.demo/` in this checkout (or the folder given as an argument), which is emptied first. The
network is not used.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
sys.path.insert(0, str(HERE))

from make_repository import make_repository  # noqa: E402


def step(number: int, text: str) -> None:
    """Say what comes next."""
    print(f"\n[{number}] {text}", flush=True)


def shown(path: Path) -> str:
    """A path as a reader would type it."""
    return str(path.relative_to(CHECKOUT)) if path.is_relative_to(CHECKOUT) else str(path)


def run(home: Path, *arguments: str) -> None:
    """Show a trunchbuild command and run it; a failure ends the demo with its exit code."""
    print(f"$ trunchbuild {shlex.join(arguments)}", flush=True)
    environment = os.environ | {"TRUNCHBUILD_HOME": str(home)}
    done = subprocess.run([sys.executable, "-m", "trunchbuild", *arguments], cwd=CHECKOUT, env=environment, check=False)
    if done.returncode:
        print(f"\nthe demo stopped: exit code {done.returncode}", file=sys.stderr)
        sys.exit(done.returncode)


def main(demo: Path) -> None:
    """Walk the way in six steps."""
    home, repository, locks, runs = demo / "home", demo / "small-sums", demo / "lockfiles", demo / "runs"
    for old in (home, repository, locks, runs):
        shutil.rmtree(old, ignore_errors=True)
    print(f"This demo writes below {shown(demo)} only.")

    step(1, "Turn examples/small-sums into a Git repository. Author and date are fixed, so the commit is always the same.")
    commit = make_repository(HERE / "small-sums", repository)
    print(f"{shown(repository)} is at commit {commit}")

    step(2, "Compile that commit into a release, and lock it.")
    run(home, "compile", f"{shown(repository)}@{commit}", "--out", shown(locks))

    step(3, "The lockfile that this checkout ships was written on another machine. It names the same release.")
    run(home, "compile", f"{shown(repository)}@{commit}", "--out", "lockfiles", "--locked")

    step(4, "Verify the release: every check, and a rebuild from the commit.")
    lockfile = shown(locks / "small-sums.lock.toml")
    run(home, "verify", lockfile, "--rebuild", "--repo", shown(repository))

    step(5, "Run it against a small model on this machine (SmolLM2, 135 million parameters). It is not good at sums.")
    run(home, "eval", "small-sums@1.0.0", "--provider", "local", "--out", shown(runs))

    step(6, "Check the run offline: every verdict is computed again from the recorded replies.")
    (results,) = runs.rglob("results.jsonl")
    run(home, "verify", shown(results.parent))

    print("\nThe results, case by case:")
    for line in results.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        verdict = {True: "right", False: "wrong", None: "not scored"}[row["passed"]]
        print(f"  {row['eval']}/{row['id']:<8} {row['status']:<10} {verdict}")
    print(f"\nEverything recorded: {shown(results.parent)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if sys.argv[1:] else CHECKOUT / ".demo")
