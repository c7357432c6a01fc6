"""Machines that refuse a sandbox: the next one is taken, or nothing runs, and the message says the cures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import Outcome, trunchbuild
from tests.support.repos import environment, folder_files, make_repo
from tests.support.shared_data import CHECKOUT

KERNEL = CHECKOUT / "tests" / "support" / "refusing_kernel.py"
LOCKFILES = CHECKOUT / "lockfiles"
RELEASED = ("opposites", "everyday-choices")
"""One benchmark in Python, one in TypeScript, with the digests that were published for them."""

EXPORT = 'export default {{ name: "t", transform({{ sources }}) {{ {body} return [{{ id: "a", prompt: "p" }}] }} }}'


def on_kernel(refuses: str, *arguments: str | Path, folder: Path) -> Outcome:
    """Run `trunchbuild` where the kernel refuses something."""
    command = [sys.executable, KERNEL, refuses, sys.executable, "-m", "trunchbuild", *arguments]
    surroundings = {"TRUNCHBUILD_HOME": str(folder / f"home-{refuses}"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env=surroundings, capture_output=True, check=False, text=True
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def chosen_in(home: Path) -> str:
    """Which way the tool remembers to have held."""
    (note,) = (home / "cache" / "sandbox").iterdir()
    return note.read_text(encoding="utf-8")


def sandbox_of(home: Path) -> str:
    """What the provenance of the only release says."""
    (record,) = [path for path in home.glob("store/**/*") if path.is_file() and b'"sandbox"' in path.read_bytes()]
    return str(json.loads(record.read_text(encoding="utf-8"))["sandbox"])


@pytest.mark.parametrize("name", RELEASED)
def test_without_namespaces_landlock_gives_the_published_digest(name: str, tmp_path: Path) -> None:
    """`--locked` refuses any other digest than that of the committed lockfile."""
    script = CHECKOUT / "examples" / "make_repository.py"
    command = [sys.executable, script, CHECKOUT / "examples" / name, tmp_path / "repo"]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    words = ["compile", "repo@HEAD", "--out", LOCKFILES, "--locked"]
    compiled = on_kernel("namespaces", *words, folder=tmp_path)
    assert compiled.code == 0, compiled.err
    assert chosen_in(tmp_path / "home-namespaces").startswith("landlock ")
    here = trunchbuild(*words, cwd=tmp_path, home=tmp_path / "home")
    assert here.code == 0, here.err
    assert chosen_in(tmp_path / "home").startswith("bubblewrap ")


def test_where_neither_holds_nothing_runs(tmp_path: Path) -> None:
    """Exit 4, each way with its reason and its cure; no output, and the code did not run."""
    (tmp_path / "t.mjs").write_text(EXPORT.format(body=""), encoding="utf-8")
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    words = ["transform", "--unchecked", "--transformer", "t.mjs", "--source", "a=x.txt", "-o", "out.jsonl"]
    refused = on_kernel("namespaces,landlock", *words, folder=tmp_path)
    assert refused.code == 4, refused.out
    assert not (tmp_path / "out.jsonl").exists()
    for part in ("bubblewrap of the package", "Landlock and seccomp", "seccomp=unconfined", "lsm=", "5.13"):
        assert part in refused.err
    assert "--unsafe-no-sandbox" in refused.err
    assert "Traceback" not in refused.err

    asked = on_kernel("namespaces,landlock", *words, "--unsafe-no-sandbox", folder=tmp_path)
    assert asked.code == 0, asked.err
    assert "unconfined" in asked.err
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == '{"id":"a","prompt":"p"}\n'


@pytest.mark.parametrize("option", ["--unsafe", "--unsafe-no", "--no-sandbox", "--unsafe_no_sandbox"])
def test_only_the_whole_name_switches_it_off(option: str, tmp_path: Path) -> None:
    words = ["transform", "--transformer", "t.mjs", "--source", "a=x.txt", "-o", "out.jsonl", option]
    refused = trunchbuild(*words, cwd=tmp_path)
    assert refused.code == 2
    assert option in refused.err


def test_a_release_that_was_built_unconfined_says_so(tmp_path: Path) -> None:
    """In its provenance, and wherever it is verified; one that was built confined says nothing of the kind."""
    make_repo(tmp_path / "repo", folder_files(CHECKOUT / "examples" / "everyday-choices"))
    said = {}
    for name, more in (("confined", []), ("unconfined", ["--unsafe-no-sandbox"])):
        home = tmp_path / name
        made = trunchbuild("compile", "repo@HEAD", "--out", name, "--json", *more, cwd=tmp_path, home=home)
        assert made.code == 0, made.err
        verified = trunchbuild("verify", json.loads(made.out)["release"], cwd=tmp_path, home=home)
        assert verified.code == 0
        said[name] = (json.loads(made.out)["release"], sandbox_of(home), "unconfined" in verified.out)
    assert said["confined"][0] == said["unconfined"][0]
    assert said["confined"][2] is False
    assert said["unconfined"][1:] == ("none (unsafe)", True)
