#!/usr/bin/env python3
"""`make demo`: the whole way from a folder to graded results, with the commands that anyone would type.

Everything is written below `.demo/` in this checkout, which is emptied first; the network is not used.
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
DEMO = CHECKOUT / ".demo"
sys.path.insert(0, str(HERE))

from make_repository import make_repository  # noqa: E402


def step(number: int, text: str) -> None:
    """Say what comes next."""
    print(f"\n[{number}] {text}", flush=True)


def run(*arguments: str) -> None:
    """Show a trunchbuild command and run it; a failure ends the demo with its exit code."""
    print(f"$ trunchbuild {shlex.join(arguments)}", flush=True)
    environment = os.environ | {"TRUNCHBUILD_HOME": str(DEMO / "home")}
    done = subprocess.run([sys.executable, "-m", "trunchbuild", *arguments], cwd=CHECKOUT, env=environment, check=False)
    if done.returncode:
        print(f"\nthe demo stopped: exit code {done.returncode}", file=sys.stderr)
        sys.exit(done.returncode)


def main() -> None:
    """Walk the way in six steps."""
    shutil.rmtree(DEMO, ignore_errors=True)
    print("This demo writes below .demo/ only.")

    step(1, "Turn examples/small-sums into a Git repository; author and date are fixed, so the commit always is too.")
    commit = make_repository(HERE / "small-sums", DEMO / "small-sums")
    print(f".demo/small-sums is at commit {commit}")

    step(2, "Compile that commit into a release, and lock it.")
    run("compile", f".demo/small-sums@{commit}", "--out", ".demo/lockfiles")

    step(3, "The lockfile that this checkout ships was made elsewhere. It names the same release.")
    run("compile", f".demo/small-sums@{commit}", "--out", "lockfiles", "--locked")

    step(4, "Verify the release: every check, and a rebuild from the commit.")
    run("verify", ".demo/lockfiles/small-sums.lock.toml", "--rebuild", "--repo", ".demo/small-sums")

    step(5, "Run it against a small model on this machine (SmolLM2, 135 million parameters). It is not good at sums.")
    run("eval", "small-sums@1.0.0", "--provider", "local", "--out", ".demo/runs")

    step(6, "Check the run offline: every verdict is computed again from the recorded replies.")
    (results,) = (DEMO / "runs").rglob("results.jsonl")
    run("verify", str(results.parent.relative_to(CHECKOUT)))

    print("\nThe results, case by case:")
    for line in results.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        verdict = {True: "right", False: "wrong", None: "not scored"}[row["passed"]]
        print(f"  {row['eval']}/{row['id']:<8} {row['status']:<10} {verdict}")
    print(f"\nEverything recorded: {results.parent.relative_to(CHECKOUT)}")


if __name__ == "__main__":
    main()
