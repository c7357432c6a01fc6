"""The whole way on the command line, with the real runtime and sandbox: compile, look, compare, move, prove, verify."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.servers.git_http import serve
from tests.support.command import Outcome, trunchbuild
from tests.support.repos import add_commit, git, make_repo
from trunchbuild.cli.main import invoke

FILES = {
    "benchmark.config.ts": """
        const title = "Small sums" as const
        export default { protocolVersion: 1, title, version: "1.0.0", license: "CC0-1.0",
          evals: ["./evals/sums.ts", "./evals/halves.ts"] }
    """,
    "evals/sums.ts": """
        export default { id: "sums", title: "Sums", systemPrompt: "Answer with the number.",
          cases: { transformer: "../transformers/index.ts", sources: { rows: "../data/rows.jsonl" } },
          evaluate: { kind: "non_empty" } }
    """,
    "evals/halves.ts": """
        export default { id: "halves", title: "Halves", cases: "../data/halves.json",
          evaluate: { kind: "custom", evaluatorKey: "evaluators/half.ts#default", sourcePath: "evaluators/half.ts" } }
    """,
    "evaluators/half.ts": """
        import { half } from "./values"
        export default { evaluate({ output, caseData }: any) {
          return { passed: output === String(half(caseData)), score: 1, message: null } } }
    """,
    "evaluators/values.ts": "export const half = (n: number): number => n / 2\n",
    "transformers/index.ts": """
        export default { name: "Sums", transform({ sources }: any) {
          return sources.rows.content.split("\\n").filter(Boolean).map((line: string) => {
            const { a, b } = JSON.parse(line)
            return { id: `${a}+${b}`, prompt: `How much is ${a} plus ${b}?`,
                     evaluate: { kind: "exact", expected: String(a + b) } } }) } }
    """,
    "data/rows.jsonl": '{"a":11,"b":22}\n{"a":33,"b":44}\n{"a":50,"b":5}\n',
    "data/halves.json": '[{"id": "h/1", "prompt": "Half of 84?", "data": 84}]\n',
    "README.md": "Not part of a release.\n",
}


def _flushed(*streams: TextIOWrapper) -> tuple[TextIOWrapper, ...]:
    for stream in streams:
        stream.flush()
    return streams


@dataclass
class Place:
    folder: Path
    home: Path
    environment: Mapping[str, str] | None = None

    def run(self, *arguments: str | Path, code: int = 0) -> Outcome:
        """A process of its own where code of the repository runs; else in this one, which is ten times as fast."""
        if "compile" in arguments or "--rebuild" in arguments:
            outcome = trunchbuild(*arguments, cwd=self.folder, home=self.home, environment=self.environment)
        else:
            outcome = self._here(*map(str, arguments))
        assert outcome.code == code, outcome
        assert "Traceback" not in outcome.err
        return outcome

    def _here(self, *arguments: str) -> Outcome:
        out, err = (TextIOWrapper(BytesIO(), encoding="utf-8") for _ in range(2))
        surroundings = patch.dict(os.environ, {"TRUNCHBUILD_HOME": str(self.home)})
        with chdir(self.folder), surroundings, redirect_stdout(out), redirect_stderr(err):
            code = invoke(arguments)
        return Outcome(code, *(stream.detach().getvalue().decode() for stream in _flushed(out, err)))  # type: ignore[attr-defined]

    def json(self, *arguments: str | Path, code: int = 0):
        return json.loads(self.run(*arguments, "--json", code=code).out)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A repository, and its release in a store."""
    folder = tmp_path_factory.mktemp("work")
    make_repo(folder / "repo", FILES)
    where = Place(folder, folder / "home")
    where.run("compile", "./repo@main")
    return where


@pytest.fixture(scope="module")
def release(place: Place) -> str:
    return str(place.json("list")["releases"][0]["release"])


def test_the_release_is_what_the_author_wrote(place: Place, release: str) -> None:
    shown = place.json("show", release[7:15])
    assert [(entry["id"], entry["cases"]["count"]) for entry in shown["evals"]] == [("sums", 3), ("halves", 1)]
    assert [file["path"] for file in shown["files"]] == [
        "cases.jsonl",
        "modules/evaluators/half.ts",
        "modules/evaluators/values.ts",
        "private.jsonl",
    ]
    transformer = shown["evals"][0]["cases"]["transformer"]
    rows = FILES["data/rows.jsonl"].encode()
    assert transformer["sources"] == [
        {"name": "rows", "path": "data/rows.jsonl", "sha256": hashlib.sha256(rows).hexdigest(), "bytes": len(rows)}
    ]
    assert shown["source"]["commit"] == git(place.folder / "repo", "rev-parse", "main")
    case = place.json("show", "small-sums@1.0.0", "--case", "sums/11+22", "--private")
    assert case["public"]["prompt"] == "How much is 11 plus 22?"
    assert case["private"]["evaluate"]["expected"] == "33"
    assert "33" not in place.run("show", release, "--case", "sums/11+22").out
    assert place.run("show", release, "--cases").out.split() == ["sums/11+22", "sums/33+44", "sums/50+5", "halves/h/1"]
    assert "Small sums" in place.run("show", release).out
    assert place.json("show", "lockfiles/small-sums.lock.toml")["release"] == release


def test_the_same_commit_gives_the_same_digest_whoever_compiles_it(place: Place, release: str, tmp_path: Path) -> None:
    """Another folder, clone over HTTP, zone, locale, hash seed; the umask is tried in tests/flows/test_compile.py."""
    commit = git(place.folder / "repo", "rev-parse", "main~0")
    git(place.folder, "clone", "--quiet", "--bare", str(place.folder / "repo"), str(tmp_path / "served.git"))
    elsewhere = tmp_path / "other user" / "dïr"
    elsewhere.mkdir(parents=True)
    surroundings = {
        "TZ": "Pacific/Kiritimati",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
        "PYTHONHASHSEED": "4242",
        "HOME": str(tmp_path),
        "USER": "somebody",
    }
    other = Place(elsewhere, tmp_path / "home", surroundings)
    with serve(tmp_path) as server:
        url = server.url("served.git")
        answer = other.json("compile", f"{url}@{commit}")
    assert answer["release"] == release
    lock = (elsewhere / "lockfiles" / "small-sums.lock.toml").read_text()
    assert f'url = "{url}"' in lock


def test_compile_locked_and_the_difference(place: Place, release: str, tmp_path: Path) -> None:
    assert place.json("compile", "./repo@main", "--locked")["status"] == "locked"
    make_repo(tmp_path / "repo", FILES)
    add_commit(tmp_path / "repo", {"data/rows.jsonl": '{"a":11,"b":22}\n{"a":50,"b":5}\n{"a":2,"b":3}\n'})
    here = Place(tmp_path, place.home)
    arguments = ("compile", "./repo@main", "--out", place.folder / "lockfiles")
    before = (place.folder / "lockfiles" / "small-sums.lock.toml").read_bytes()
    answer = here.json(*arguments, "--locked", code=1)
    assert answer["status"] == "differs"
    assert (answer["difference"]["added"], answer["difference"]["removed"]) == (["sums/2+3"], ["sums/33+44"])
    assert (place.folder / "lockfiles" / "small-sums.lock.toml").read_bytes() == before
    shown = here.run(*arguments, code=1)
    assert "removed: sums/33+44" in shown.out
    assert "hint: --update" in shown.err
    assert here.run("compile", "./repo@main", "--locked", "--update", code=2).err.startswith("error: ")


def test_an_origin_with_a_password_is_stated_without_it(place: Place, tmp_path: Path) -> None:
    other = Place(place.folder, tmp_path / "home")
    origin = "https://user:hunter22@example.invalid/x.git"
    other.run("compile", "./repo@main", "--out", tmp_path / "locks", "--origin", origin)
    assert 'url = "https://example.invalid/x.git"' in (tmp_path / "locks/small-sums.lock.toml").read_text()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter22" in path.read_bytes()]


def test_diff_of_two_releases(place: Place, release: str, tmp_path: Path) -> None:
    """A README alone changes the commit and the release, and leaves the cases-sha256."""
    make_repo(tmp_path / "repo", FILES)
    add_commit(tmp_path / "repo", {"README.md": "Changed.\n"})
    other = Place(tmp_path, place.home).json("compile", "./repo@main")["release"]
    answer = place.json("diff", release, other, code=1)
    assert answer["sameCases"] is True
    assert answer["old"]["casesSha256"] == answer["new"]["casesSha256"]
    assert {change["field"] for change in answer["facts"]} == {"source/commit", "source/tree"}
    assert place.json("diff", release, release)["same"] is True
    said = place.run("diff", release, other, code=1).out.splitlines()
    assert said[-1] == f"cases-sha256 {answer['old']['casesSha256']}"
    lock = tmp_path / "lockfiles/small-sums.lock.toml"
    assert place.json("gc", "--remove", lock)["removedReleases"] == [other]
    assert place.json("du")["looseFiles"] == 0


def test_export_check_without_us_import_and_verify(place: Place, release: str, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    place.run("export", release, folder)
    said = subprocess.run(["sha256sum", "manifest.json"], cwd=folder, capture_output=True, check=True, text=True).stdout
    assert f"sha256:{said.split()[0]}" == release
    command = """jq -r '.files[] | "\\(.sha256)  \\(.path)"' manifest.json | sha256sum -c"""
    subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, capture_output=True, check=True)
    other = Place(tmp_path, tmp_path / "home")
    assert other.json("import", "release", "--digest", release)["added"] is True
    assert other.json("verify", release)["outcome"] == "yes"
    assert place.run("export", release, folder, code=2).err.endswith("hint: name a new folder\n")
    (folder / "extra.txt").write_text("")
    answer = other.json("verify", "release", code=1)
    assert [check["number"] for check in answer["checks"] if check["outcome"] == "no"] == [2]
    assert other.json("import", "release", code=1)["added"] is False


def test_withheld_answers(place: Place, release: str, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    place.run("export", release, folder, "--without-private")
    assert not (folder / "private.jsonl").exists()
    assert place.json("verify", folder, "--digest", release)["outcome"] == "yes"
    assert "withheld" in place.run("show", folder, "--case", "sums/50+5", "--private", code=3).err


def test_verify_with_a_rebuild_says_yes_and_no(place: Place, release: str, tmp_path: Path) -> None:
    answer = place.json("verify", "lockfiles/small-sums.lock.toml", "--rebuild", "--repo", "./repo")
    assert [(check["number"], check["outcome"]) for check in answer["checks"]] == [(n, "yes") for n in range(1, 9)]
    folder = tmp_path / "release"
    place.run("export", release, folder)
    private = folder / "private.jsonl"
    private.write_bytes(private.read_bytes().replace(b'"expected":"33"', b'"expected":"34"'))
    outcome = place.run("verify", folder, "--digest", release, "--rebuild", "--repo", "./repo", code=1)
    assert "(2) NO" in outcome.out
    assert "(7) yes" in outcome.out
    assert "(8) NO" in outcome.out
    assert place.json("verify", release, "--rebuild", code=4)["outcome"] == "open"


def test_a_proof_stands_without_the_other_cases(place: Place, release: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    place.run("prove", release, "sums/33+44", "-o", proof)
    assert place.json("verify", proof)["outcome"] == "yes"
    place.run("export", release, tmp_path / "release")
    stranger = Place(tmp_path, tmp_path / "home")
    assert stranger.json("verify", "proof.json", code=4)["outcome"] == "open"
    assert stranger.json("verify", "proof.json", "--manifest", "release/manifest.json")["outcome"] == "yes"
    proof.write_text(proof.read_text().replace("33 plus 44", "33 plus 45"))
    answer = stranger.json("verify", "proof.json", "--manifest", "release/manifest.json", code=1)
    assert [check["outcome"] for check in answer["checks"]] == ["yes", "yes", "no"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["verify", "nothing@1"], 3, "no such release"),
        (["verify", "missing.lock.toml"], 3, "no such file"),
        (["verify", "deadbeef"], 3, "no such release"),
        (["verify", "repo"], 1, "(1) NO"),
        (["show", "zz"], 3, "not a release"),
        (["show", "small-sums@1.0.0", "--case", "sums"], 2, "EVAL/ID"),
        (["show", "small-sums@1.0.0", "--case", "sums/9+9"], 3, "no such case"),
        (["show", "small-sums@1.0.0", "--case", "odds/1"], 3, "no such eval"),
        (["prove", "small-sums@1.0.0", "sums/9+9"], 3, "no such case"),
        (["verify", "small-sums@1.0.0", "--digest", "sha256:12"], 3, "64 lower-case hex digits"),
        (["import", "nowhere"], 2, "not a folder"),
        (["compile", "./repo@main", "--seal", "repo/README.md", "--config", "missing.ts"], 3, "missing.ts"),
        (["compile", "./repo@nobranch"], 3, "nobranch"),
        (["compile", "./repo@main", "--origin", "ext::sh -c id"], 2, "is refused"),
        (["compile", "./repo@main", "--origin", "../elsewhere"], 2, "not the address of a server"),
        (["show", ""], 3, "not a release"),
        (["gc", "--remove", "deadbeef"], 3, "no such release"),
    ],
)
def test_bad_input_is_a_message(place: Place, arguments: list[str], code: int, words: str) -> None:
    outcome = place.run(*arguments, code=code)
    assert words in outcome.out + outcome.err
