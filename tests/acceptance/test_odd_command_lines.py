"""Odd command lines over all commands: a plain message, the documented exit code, no traceback, nothing written."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.bad_input import snapshot
from tests.support.command import trunchbuild
from tests.support.repos import folder_files, make_repo
from tests.support.shared_data import CHECKOUT

NAME = "small-sums@1.0.0"
LOCK = "lockfiles/small-sums.lock.toml"
MODEL = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
ZEROS = "sha256:" + "0" * 64


@dataclass(frozen=True)
class Odd:
    arguments: tuple[str, ...]
    code: int
    says: str

    def __str__(self) -> str:
        return " ".join(argument if len(argument) < 40 else f"{argument[:20]}..." for argument in self.arguments)


def odd(code: int, says: str, *arguments: str) -> Odd:
    return Odd(arguments, code, says)


ODD = [
    # the group
    odd(2, "missing command", "--debug"),
    odd(2, "did you mean 'verify'?", "verfy"),
    odd(2, "no such option", "--jsn"),
    odd(2, "no such command ''", ""),
    odd(2, "no such command '\\u202e'", "\u202e"),
    # names of releases
    odd(3, "not a release", "show", ""),
    odd(3, "manifest.json: no such file", "show", "."),
    odd(3, "not a release", "show", "a\nb"),
    odd(3, "no such release", "show", "small-sums@9"),
    odd(3, "no such release", "show", ZEROS),
    odd(3, "not a release", "show", "sha256:"),
    odd(3, "not a release", "show", "\x1b[2J"),
    odd(3, "not a release", "show", "random.bin"),
    odd(3, "lock-version", "show", "v99.lock.toml"),
    odd(3, "merge conflict", "show", "conflict.lock.toml"),
    odd(2, "EVAL/ID", "show", NAME, "--case", "/"),
    odd(2, "not a case", "show", NAME, "--case", "sums/"),
    odd(2, "--case", "show", NAME, "--private"),
    odd(3, "not a release", "diff", NAME, "proof.json"),
    odd(2, "missing argument", "diff", NAME),
    odd(2, "unexpected extra argument", "diff", NAME, NAME, NAME),
    odd(2, "unexpected extra argument", "list", "all"),
    odd(2, "name a new folder", "export", NAME, "."),
    odd(4, "emptyfile", "export", NAME, "emptyfile/x"),
    odd(3, "no such release", "gc", "--remove", ZEROS),
    odd(2, "not a folder", "import", "emptyfile"),
    odd(1, "manifest.json", "import", "empty"),
    odd(3, "64 lower-case hex digits", "import", "empty", "--digest", "sha256:ABC"),
    odd(3, "no such case", "prove", NAME, "sums/add-99"),
    odd(4, "emptyfile", "prove", NAME, "sums/add-1", "-o", "emptyfile/p.json"),
    # pins
    odd(2, "no repository", "compile", "@main"),
    odd(2, "ftp", "compile", "ftp://example.invalid/x@main"),
    odd(2, "ext", "compile", "ext::sh -c x@main"),
    odd(2, "http", "compile", "http://example.invalid/x.git@" + "0" * 40),
    odd(4, "127.0.0.1:9", "compile", "https://127.0.0.1:9/x.git@v1"),
    odd(4, "127.0.0.1:9", "compile", "http://127.0.0.1:9/x.git@" + "0" * 40),
    odd(2, "to pin it: ./repo@", "compile", "./repo"),
    odd(3, "no commit, branch or tag `nope`", "compile", "./repo@nope"),
    odd(3, "no Git repository", "compile", "./empty@main"),
    odd(3, "other.config.ts", "compile", "./repo@main", "--config", "other.config.ts"),
    odd(3, "leaves the repository", "compile", "./repo@main", "--config", "../x.json"),
    odd(2, "--locked", "compile", "./repo@main", "--locked", "--update"),
    odd(3, "missing.key", "compile", "./repo@main", "--seal", "missing.key"),
    odd(3, "key is too short", "compile", "./repo@main", "--seal", "emptyfile"),
    odd(3, "no such lockfile", "compile", "./repo@main", "--locked", "--out", "elsewhere"),
    odd(3, "no such folder", "inspect", "nowhere"),
    # verifying
    odd(3, "no such file", "verify", "missing.lock.toml"),
    odd(3, "emptyfile:1:1", "verify", "emptyfile"),
    odd(3, "badproof.json", "verify", "badproof.json"),
    odd(1, "(1) NO", "verify", "empty"),
    odd(1, "(1) NO", "verify", LOCK, "--digest", ZEROS),
    odd(2, "belongs to a run", "verify", NAME, "--release", NAME),
    odd(2, "not rebuilt", "verify", "proof.json", "--rebuild"),
    odd(4, "(7) open", "verify", NAME, "--rebuild"),
    odd(4, "(7) open", "verify", NAME, "--rebuild", "--repo", "empty"),
    # runs
    odd(2, "which model?", "eval", NAME),
    odd(2, "which endpoint?", "eval", NAME, "--model", "m"),
    odd(2, "no such provider", "eval", NAME, "--model", "m", "--provider", "nobody"),
    odd(3, "not a base URL", "eval", NAME, "--model", "m", "--base-url", "ftp://x/v1"),
    odd(3, "no such eval", "eval", NAME, *MODEL, "--eval", "words"),
    odd(2, "--limit", "eval", NAME, *MODEL, "--limit", "0"),
    odd(2, "--temperature", "eval", NAME, *MODEL, "--temperature", "nan"),
    odd(2, "--top-p", "eval", NAME, *MODEL, "--top-p", "2"),
    odd(2, "--seed", "eval", NAME, *MODEL, "--seed", "99999999999999999999"),
    odd(2, "--concurrency", "eval", NAME, *MODEL, "--concurrency", "1e3"),
    odd(2, "--timeout", "eval", NAME, *MODEL, "--timeout", "-1"),
    odd(2, "--min-coverage", "eval", NAME, *MODEL, "--min-coverage", "80"),
    odd(3, "missing.txt", "eval", NAME, *MODEL, "--cases", "missing.txt"),
    odd(3, "random.bin", "eval", NAME, *MODEL, "--cases", "random.bin"),
    odd(2, "MISSING_KEY", "eval", NAME, *MODEL, "--api-key-env", "MISSING_KEY"),
    odd(2, "--provider local", "eval", NAME, *MODEL, "--slots", "2"),
    odd(3, "missing.gguf", "eval", NAME, "--provider", "local", "--gguf", "missing.gguf"),
    odd(3, "not a model file", "eval", NAME, "--provider", "local", "--gguf", "random.bin"),
    odd(4, "emptyfile", "eval", NAME, *MODEL, "--out", "emptyfile"),
    odd(2, "--replies", "grade", NAME),
    odd(3, "missing.jsonl", "grade", NAME, "--replies", "missing.jsonl", "-o", "run"),
    odd(3, "random.bin", "grade", NAME, "--replies", "random.bin", "-o", "run"),
    odd(3, "no such release", "grade", "missing@1", "--replies", "emptyfile", "-o", "run"),
    odd(3, "brokenrun", "grade", "brokenrun"),
    odd(1, "(1) NO", "verify", "brokenrun"),
]
FILES = {
    "random.bin": bytes(range(255, 0, -1)),
    "emptyfile": b"",
    "badproof.json": b'{"type":"trunchbuild.proof/v1"}',
    "v99.lock.toml": b"lock-version = 99\n",
    "conflict.lock.toml": b"<<<<<<< ours\nlock-version = 1\n=======\nlock-version = 1\n>>>>>>> theirs\n",
    "brokenrun/run.json": b"{",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository, its release in a store, a proof, and files that are none of these."""
    folder = tmp_path_factory.mktemp("odd") / "work"
    make_repo(folder / "repo", folder_files(CHECKOUT / "examples" / "small-sums"))
    for arguments in (("compile", "./repo@main"), ("prove", NAME, "sums/add-1", "-o", "proof.json")):
        outcome = trunchbuild(*arguments, cwd=folder)
        assert outcome.code == 0, outcome
    (folder / "empty").mkdir()
    for path, data in FILES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


@pytest.mark.parametrize("line", ODD, ids=str)
def test_it_is_told_plainly(place: Path, line: Odd) -> None:
    before = snapshot(place)
    outcome = trunchbuild(*line.arguments, cwd=place)
    shown = outcome.out + outcome.err
    assert (outcome.code, line.says in shown) == (line.code, True), outcome
    assert "Traceback" not in shown
    assert "internal error" not in shown
    assert "\x1b" not in shown
    if line.code in (2, 3):
        assert outcome.out == ""
        assert outcome.err.startswith("error: ")
    assert snapshot(place) == before


@pytest.mark.parametrize("line", [ODD[number] for number in (5, 22, 31, 37, 47, 53, 60, 75)], ids=str)
def test_a_program_finds_one_document(place: Path, line: Odd) -> None:
    outcome = trunchbuild(*line.arguments, "--json", cwd=place)
    document = json.loads(outcome.out)
    assert outcome.code == line.code
    if "error" in document:
        assert document["error"]["exitCode"] == line.code
        assert document["error"]["faults"]


def test_a_home_that_is_a_file(place: Path, tmp_path: Path) -> None:
    shutil.copy(place / "emptyfile", tmp_path / "home")
    for arguments in (("list",), ("compile", "./repo@main", "--out", str(tmp_path / "locks")), ("du",), ("gc",)):
        outcome = trunchbuild(*arguments, cwd=place, home=tmp_path / "home")
        assert outcome.code in (0, 4), outcome
        assert outcome.code == 0 or outcome.err.startswith("error: ")
        assert "internal error" not in outcome.err
    assert not (tmp_path / "locks").exists()
