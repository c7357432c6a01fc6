"""The README's sessions run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def session(*headings: str) -> str:
    """The `sh` blocks under these headings, as one script that stops at the first failure."""
    blocks = []
    for heading in headings:
        section = README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
        blocks += re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    assert blocks
    return "set -euo pipefail\n" + "".join(blocks)


def run(script: str, folder: Path) -> str:
    """Run in a copy of what the README's reader has."""
    for name in ("examples", "lockfiles"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {
        "TRUNCHBUILD_HOME": str(folder / "home"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_author_and_reviewer(tmp_path: Path) -> None:
    output = run(session("For an author", "For a reviewer"), tmp_path)
    assert "private.jsonl: OK" in output
    assert output.count("yes: every check that was made agrees") == 2


@pytest.mark.slow
def test_author_and_runner(tmp_path: Path) -> None:
    output = run(session("For an author", "For whoever runs models"), tmp_path)
    assert output.count("3 scored") >= 3


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(str(p.relative_to(CHECKOUT)) for p in CHECKOUT.glob("docs/**/*.md"))]
)
def test_links_lead_somewhere(page: str) -> None:
    folder = (CHECKOUT / page).parent
    targets = _LINK.findall((CHECKOUT / page).read_text(encoding="utf-8"))
    assert [target for target in targets if not (folder / target).exists()] == []


def test_the_map_names_files_that_exist() -> None:
    """A path in the table of `docs/architecture.md`, below the checkout or below the package; `NAME` stands for any."""
    text = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = {path for path in re.findall(r"`([\w./*-]+(?:/|\.py|\.md|\.mjs))`", text) if "/" in path}
    assert len(paths) > 40
    gone = [
        path
        for path in paths
        if not any(list(base.glob(path.replace("NAME", "*"))) for base in (CHECKOUT, CHECKOUT / "trunchbuild"))
    ]
    assert gone == []
