"""One commit gives one release digest, whoever compiles it and where; `sha256sum` and `jq` alone confirm it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.surroundings import Surroundings, another_user, bash
from tests.servers.git_http import serve
from tests.support.repos import folder_files, git, make_repo
from tests.support.shared_data import CHECKOUT, COMMITTED

EXAMPLES = CHECKOUT / "examples"
CONFIG = """
export default {
  protocolVersion: 1, title: "Everything", version: "2.0.0", license: "CC0-1.0",
  evals: ["evals/packing.ts", "choices/evals/household.ts", "pairs/evals/opposites.mjs", "evals/rows.ts"],
}
"""
ROWS = """
export default {
  id: "rows", title: "Rows", evaluate: { kind: "non_empty" },
  cases: { transformer: "../transformers/gsm8k.ts", sources: { test: "../data/test.jsonl" } },
}
"""
PLAIN = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
OTHER = {
    "PATH": os.environ["PATH"],
    "TZ": "Pacific/Kiritimati",
    "LANG": "tr_TR.UTF-8",
    "LC_ALL": "tr_TR.UTF-8",
    "PYTHONHASHSEED": "4242",
    "HOME": "/nonexistent",
    "USER": "somebody",
}


@dataclass(frozen=True)
class Compiled:
    commit: str
    url: str
    here: Surroundings
    digest: str


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiled]:
    """A benchmark of every kind of part, compiled plainly, and served over HTTP."""
    root = tmp_path_factory.mktemp("work")
    files = folder_files(EXAMPLES / "packing-lists") | {
        **{f"choices/{path}": data for path, data in folder_files(EXAMPLES / "everyday-choices").items()},
        **{f"pairs/{path}": data for path, data in folder_files(EXAMPLES / "opposites").items()},
        **folder_files(COMMITTED / "acceptance"),
        "data/test.jsonl": (COMMITTED / "gsm8k" / "test-rows.jsonl").read_bytes(),
        "evals/rows.ts": ROWS.encode(),
    }
    kept = {path: data for path, data in files.items() if "benchmark.config" not in path and "__pycache__" not in path}
    commit = make_repo(root / "repo", {**kept, "benchmark.config.mjs": CONFIG})
    git(root, "clone", "--quiet", "--bare", str(root / "repo"), str(root / "served" / "repo.git"))
    here = Surroundings(root, root / "home", PLAIN)
    with serve(root / "served") as server:
        yield Compiled(commit, server.url(), here, compile_json(here, "./repo@main"))


def compile_json(where: Surroundings, target: str) -> str:
    outcome = where.run("compile", target, "--json")
    assert outcome.code == 0, outcome
    answer = json.loads(outcome.out)
    assert answer["cases"] > 36
    return answer["release"]


def test_a_clone_over_http_in_other_surroundings(compiled: Compiled, tmp_path: Path) -> None:
    folder = tmp_path / "another folder" / "dïr"
    folder.mkdir(parents=True)
    git(tmp_path, "clone", "--quiet", compiled.url, str(folder / "clone"))
    where = Surroundings(folder, tmp_path / "other home", OTHER, umask="077")
    assert compile_json(where, f"./clone@{compiled.commit}") == compiled.digest


def test_another_user_over_http(compiled: Compiled) -> None:
    with another_user(OTHER) as where:
        assert compile_json(where, f"{compiled.url}@{compiled.commit}") == compiled.digest
        assert {path.owner() for path in where.home.rglob("*")} == {"nobody"}
        lock = where.folder / "lockfiles" / "everything.lock.toml"
        outcome = where.run("verify", str(lock), "--rebuild", "--json")
    assert outcome.code == 0, outcome
    checks = json.loads(outcome.out)["checks"]
    assert [(check["number"], check["outcome"]) for check in checks] == [(number, "yes") for number in range(1, 9)]


def test_standard_tools_alone_confirm_it(compiled: Compiled) -> None:
    """The commands of docs/releases.md, as they stand there."""
    page = (CHECKOUT / "docs" / "releases.md").read_text(encoding="utf-8")
    commands = page.split("## Check it without us\n\n```sh\n")[1].split("```")[0]
    digest, every, withheld = commands.splitlines()
    assert compiled.here.run("export", compiled.digest, "release").code == 0
    folder = compiled.here.folder / "release"
    assert f"sha256:{bash(digest, folder).out.split()[0]}" == compiled.digest
    listed = bash(every, folder)
    assert listed.code == 0, listed.err
    named = {line.removesuffix(": OK") for line in listed.out.splitlines()}
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert kept - named == {"manifest.json", "provenance.json"}
    assert named < kept
    assert {"cases.jsonl", "private.jsonl", "modules/evaluators/named-items.ts"} <= named

    private = folder / "private.jsonl"
    data = private.read_bytes()
    private.write_bytes(data.replace(b'"', b"'", 1))
    assert "private.jsonl: FAILED" in bash(every, folder).out
    private.unlink()
    assert bash(every, folder).code != 0
    assert bash(withheld, folder).code == 0
