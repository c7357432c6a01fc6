"""The examples: the same commits everywhere, exports and lockfiles as committed, and content that is right."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repos import environment

CHECKOUT = Path(__file__).resolve().parents[1]
EXAMPLES = CHECKOUT / "examples"
LOCKFILES = CHECKOUT / "lockfiles"
NAMES = ["clock-and-calendar", "everyday-choices", "opposites", "packing-lists", "small-sums"]


def trunchbuild(*arguments: str | Path, home: Path, cwd: Path = CHECKOUT) -> subprocess.CompletedProcess[str]:
    """Run a whole command with a store of its own."""
    command = [sys.executable, "-m", "trunchbuild", *map(str, arguments)]
    surroundings = os.environ | {"TRUNCHBUILD_HOME": str(home)}
    return subprocess.run(command, env=surroundings, cwd=cwd, capture_output=True, text=True, check=False)


def make_repository(folder: Path, destination: Path, **surroundings: str) -> str:
    """Run the script as its documentation says; return the commit it prints."""
    command = [sys.executable, str(EXAMPLES / "make_repository.py"), str(folder), str(destination)]
    done = subprocess.run(command, env=os.environ | surroundings, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_example_has_its_lockfile() -> None:
    """No example is forgotten, and no lockfile stands for an example that is gone."""
    assert sorted(path.parent.name for path in EXAMPLES.glob("*/benchmark.config.*")) == NAMES
    assert sorted(path.name for path in LOCKFILES.glob("*.lock.toml")) == [f"{name}.lock.toml" for name in NAMES]
    assert all((EXAMPLES / name / "README.md").is_file() for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_commit_is_the_one_that_git_itself_makes(name: str, tmp_path: Path) -> None:
    """`git add` and `git commit` of the same files give the same id, whatever the user's own configuration says."""
    (tmp_path / "gitconfig").write_text("[user]\nname = Someone\n[core]\nautocrlf = true\n[init]\ndefaultBranch = x\n")
    made = make_repository(
        EXAMPLES / name, tmp_path / "made", GIT_CONFIG_GLOBAL=str(tmp_path / "gitconfig"), TZ="Asia/Tokyo"
    )
    by_hand = tmp_path / "by-hand"
    shutil.copytree(EXAMPLES / name, by_hand, ignore=shutil.ignore_patterns("__pycache__"))
    for path in by_hand.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--message=Add the benchmark"],
    ):
        subprocess.run(["git", "-C", str(by_hand), *command], env=environment(), check=True)
    head = ["git", "-C", str(by_hand), "rev-parse", "HEAD"]
    assert made == subprocess.run(head, env=environment(), capture_output=True, text=True, check=True).stdout.strip()
    assert f'commit = "{made}"' in (LOCKFILES / f"{name}.lock.toml").read_text(encoding="utf-8")


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    """The script never writes into someone's files."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(subprocess.CalledProcessError):
        make_repository(EXAMPLES / "small-sums", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", NAMES)
def test_each_lockfile_is_what_its_commit_gives(name: str, tmp_path: Path) -> None:
    """`compile --locked` rebuilds the committed digest; one changed byte in one file gives 1 and writes nothing."""
    make_repository(EXAMPLES / name, tmp_path / "same")
    same = trunchbuild("compile", f"{tmp_path / 'same'}@HEAD", "--out", LOCKFILES, "--locked", home=tmp_path / "home")
    assert same.returncode == 0, same.stderr

    shutil.copytree(EXAMPLES / name, tmp_path / "files")
    readme = tmp_path / "files" / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("#", "##", 1), encoding="utf-8")
    make_repository(tmp_path / "files", tmp_path / "other")
    before = (LOCKFILES / f"{name}.lock.toml").read_bytes()
    other = trunchbuild("compile", f"{tmp_path / 'other'}@HEAD", "--out", LOCKFILES, "--locked", home=tmp_path / "home")
    assert other.returncode == 1, other.stderr
    assert (LOCKFILES / f"{name}.lock.toml").read_bytes() == before


def test_the_batch_is_as_committed(tmp_path: Path) -> None:
    """`transform-batch --check` agrees with every committed export, receipt and report, and names each changed one."""
    same = trunchbuild("transform-batch", EXAMPLES / "transform-batch.json", "--check", home=tmp_path / "home")
    assert same.returncode == 0, same.stderr
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    changed = [
        *("everyday-choices/exports/cases.jsonl", "everyday-choices/exports/cases.jsonl.manifest.json"),
        *("opposites/exports/cases.json", "opposites/exports/cases.json.manifest.json"),
    ]
    for path in changed:
        content = (tmp_path / "examples" / path).read_bytes()
        (tmp_path / "examples" / path).write_bytes(content.replace(b"a", b"b", 1))
    other = trunchbuild(
        "transform-batch", tmp_path / "examples/transform-batch.json", "--check", home=tmp_path / "home"
    )
    assert other.returncode == 1
    assert [path for path in changed if path not in other.stderr] == []


def test_the_custom_evaluator_gives_fractions(tmp_path: Path) -> None:
    """Replies written by hand get the share of wanted things they name, less what is unwanted, counted by hand."""
    replies = {
        "rainy-walk": ("An UMBRELLA,\nmy boots", 2 / 2),
        "night-train": ("- tickets\n- water\n- a tent\n- a toothbrush", (3 - 1) / 4),
        "beach-day": ("A capable friend and one towel", 1 / 3),  # no cap
    }
    make_repository(EXAMPLES / "packing-lists", tmp_path / "repository")
    lines = [json.dumps({"id": name, "response": reply}) for name, (reply, _) in replies.items()]
    (tmp_path / "replies.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for command in (
        ["compile", f"{tmp_path / 'repository'}@HEAD", "--out", tmp_path],
        ["grade", "packing-lists@1.0.0", "--replies", tmp_path / "replies.jsonl", "-o", tmp_path / "run"],
    ):
        done = trunchbuild(*command, home=tmp_path / "home")
        assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "run/results.jsonl").read_text().splitlines()]
    assert {row["id"]: row["score"] for row in rows} == {name: score for name, (_, score) in replies.items()}
    assert {row["id"] for row in rows if row["passed"]} == {"rainy-walk"}


def test_the_demo_goes_all_the_way(tmp_path: Path) -> None:
    """Over what an earlier demo left: it ends well, the real model is right and wrong, and coverage is shown."""
    (tmp_path / "runs/old").mkdir(parents=True)
    (tmp_path / "runs/old/results.jsonl").write_text("left over")
    (tmp_path / "small-sums").mkdir()
    (tmp_path / "small-sums/left-over.txt").write_text("left over")
    command = [sys.executable, str(EXAMPLES / "demo.py"), str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    commit = re.search(r'^commit = "([0-9a-f]{40})"', (LOCKFILES / "small-sums.lock.toml").read_text(), re.MULTILINE)
    assert commit is not None
    assert f"is at commit {commit[1]}" in done.stdout
    statuses = re.findall(r"^  sums/add-\d+ +(\w+) +(right|wrong|not scored)$", done.stdout, re.MULTILINE)
    assert len(statuses) == 12
    right, scored = statuses.count(("scored", "right")), sum(status == "scored" for status, _ in statuses)
    assert re.search(rf"^accuracy .* = {right} of {scored} scored$", done.stdout, re.MULTILINE)
    assert re.search(rf"^coverage .* = {scored} of 12$", done.stdout, re.MULTILINE)
    assert 0 < right < scored


def test_receipts_hold_the_digests_of_their_files() -> None:
    """`sha256sum` of every source, transformer and output is what the receipts say."""
    receipts = sorted(EXAMPLES.glob("*/exports/*.manifest.json"))
    assert len(receipts) == 2
    for receipt in receipts:
        text = receipt.read_text(encoding="utf-8")
        content = json.loads(text)
        assert text == json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        named = [content["transformer"], content["output"], *content["sources"].values()]
        paths = [str(entry["path"]) for entry in named]
        done = subprocess.run(["sha256sum", *paths], cwd=EXAMPLES, capture_output=True, text=True, check=True)
        assert done.stdout.split()[::2] == [entry["sha256"] for entry in named]


def test_sums_are_right() -> None:
    """Each pattern accepts the sum as a number of its own, and no other number below forty."""
    cases = [json.loads(line) for line in (EXAMPLES / "small-sums/data/sums.jsonl").read_text().splitlines()]
    assert len(cases) == 12
    for case in cases:
        left, right = map(int, case["prompt"].split(" + "))
        accepted = [n for n in range(40) if re.search(case["evaluate"]["pattern"], f"The sum is {n}.")]
        assert accepted == [left + right], case["id"]


def test_choices_have_one_right_letter() -> None:
    """The exported cases accept the keyed letter, forbid every other, and keep the answer out of the prompt."""
    folder = EXAMPLES / "everyday-choices"
    questions = [json.loads(line) for line in (folder / "data/questions.jsonl").read_text().splitlines()]
    key = json.loads((folder / "data/key.json").read_text())
    cases = [json.loads(line) for line in (folder / "exports/cases.jsonl").read_text().splitlines()]
    for question, case in zip(questions, cases, strict=True):
        letters = "ABCD"[: len(question["options"])]
        right = letters[key[question["ref"]]]
        assert case["evaluate"]["answers"] == [f"FINAL ANSWER: {right}"]
        assert case["evaluate"]["forbiddenAnswers"] == [f"FINAL ANSWER: {x}" for x in letters if x != right]
        assert f"\n{right}. {question['options'][key[question['ref']]]}" in case["prompt"]
        assert "FINAL ANSWER" not in case["prompt"]
