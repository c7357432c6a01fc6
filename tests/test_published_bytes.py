"""What an earlier trunchbuild wrote verifies today. The digests stand here; `sha256sum` confirms the releases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VECTORS = Path(__file__).resolve().parent / "vectors"
RELEASES = {
    "packing-lists-1.0.0": "c8820d4c53f40c7dd535c02d8b40e79e99fae2f49059f0f346ea14a4a0371aa7",
    "small-sums-1.0.0": "53d3d4c3a5e1d3c72b4fc4dfe4191405907b0a987ac79e608fd4af5c366be415",
}
RUNS = {
    "packing-lists-imported": (
        "packing-lists-1.0.0",
        "f015d8d25d9b235ce70209c8e0fae78d7cbcc92db36610fd5a5ee3e7a6b5af5a",
    )
}


def trunchbuild(*arguments: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a whole command with a store of its own."""
    command = [sys.executable, "-m", "trunchbuild", *map(str, arguments)]
    surroundings = os.environ | {"TRUNCHBUILD_HOME": str(home)}
    return subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)


def test_every_vector_is_named() -> None:
    """No vector stands here unchecked."""
    assert {path.name for path in (VECTORS / "releases").iterdir()} == set(RELEASES)
    assert {path.name for path in (VECTORS / "runs").iterdir()} == set(RUNS)


@pytest.mark.parametrize("name", sorted(RELEASES))
def test_an_old_release_still_verifies(name: str, tmp_path: Path) -> None:
    """By `sha256sum` first, then by every check of ours."""
    folder = VECTORS / "releases" / name
    said = subprocess.run(["sha256sum", folder / "manifest.json"], capture_output=True, check=True, text=True)
    assert said.stdout.split()[0] == RELEASES[name]
    done = trunchbuild("verify", folder, "--digest", f"sha256:{RELEASES[name]}", home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", sorted(RUNS))
def test_an_old_run_still_verifies(name: str, tmp_path: Path) -> None:
    """Every verdict is computed again, the custom evaluator's too."""
    release, digest = RUNS[name]
    arguments = ("--release", VECTORS / "releases" / release, "--digest", f"sha256:{digest}")
    done = trunchbuild("verify", VECTORS / "runs" / name, *arguments, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_old_run_with_another_reply_does_not(tmp_path: Path) -> None:
    """The twin: one word of one reply, and the answer is no."""
    release, digest = RUNS["packing-lists-imported"]
    folder = tmp_path / "run"
    shutil.copytree(VECTORS / "runs" / "packing-lists-imported", folder)
    replies = folder / "replies.jsonl"
    first, *rest = replies.read_text().splitlines()
    row = json.loads(first)
    row["response"] = "A raincoat."
    replies.write_text("\n".join([json.dumps(row), *rest]) + "\n")
    arguments = ("--release", VECTORS / "releases" / release, "--digest", f"sha256:{digest}")
    assert trunchbuild("verify", folder, *arguments, home=tmp_path / "home").returncode == 1
