"""`verify --rebuild` says yes; after any alteration it says which check failed, and exits 1."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.command import Outcome, trunchbuild
from tests.support.repos import folder_files, make_repo
from tests.support.shared_data import CHECKOUT

NAME = "packing-lists"


@dataclass(frozen=True)
class Kept:
    """A release in a store, as a folder, and its lockfile."""

    folder: Path
    home: Path
    digest: str

    def verify(self, *arguments: str | Path) -> Outcome:
        return trunchbuild("verify", *arguments, cwd=self.folder, home=self.home)

    def altered(self, folder: Path) -> Path:
        """A copy of the release folder, to be altered."""
        return shutil.copytree(self.folder / "release", folder / "release")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("work")
    files = folder_files(CHECKOUT / "examples" / NAME)
    make_repo(folder / "repo", {path: data for path, data in files.items() if "__pycache__" not in path})
    home = folder / "home"
    compiled = trunchbuild("compile", "./repo@main", "--json", cwd=folder, home=home)
    assert compiled.code == 0, compiled
    digest = json.loads(compiled.out)["release"]
    assert trunchbuild("export", digest, "release", cwd=folder, home=home).code == 0
    return Kept(folder, home, digest)


@pytest.mark.parametrize("subject", [f"lockfiles/{NAME}.lock.toml", "release"])
def test_an_untouched_release_says_yes_with_a_rebuild(kept: Kept, subject: str) -> None:
    outcome = kept.verify(subject, "--rebuild", "--repo", "./repo", "--digest", kept.digest)
    assert outcome.code == 0, outcome
    said = dict(re.findall(r"^\((\d)\) (\w+)", outcome.out, re.MULTILINE))
    numbers = "12345678" if subject.endswith("toml") else "1234678"
    assert said == dict.fromkeys(numbers, "yes")


def failing(outcome: Outcome) -> list[int]:
    """The numbers of the checks that say no."""
    assert outcome.code == 1, outcome
    assert outcome.out.rstrip().endswith("NO: it does not verify")
    return [int(number) for number in re.findall(r"^\((\d)\) NO", outcome.out, re.MULTILINE)]


def test_one_flipped_byte_in_any_file(kept: Kept, tmp_path: Path) -> None:
    folder = kept.altered(tmp_path)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(paths) == 6
    for path in paths:
        data = path.read_bytes()
        position = len(data) // 2
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        outcome = kept.verify(folder, "--digest", kept.digest)
        expected = 1 if path.name == "manifest.json" else 2
        assert expected in failing(outcome), path
        assert expected == 1 or path.name in outcome.out
        path.write_bytes(data)
    assert kept.verify(folder, "--digest", kept.digest).code == 0


def swap_lines(folder: Path) -> None:
    path = folder / "cases.jsonl"
    first, second, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([second, first, *rest]))


def add_a_file(folder: Path) -> None:
    (folder / "modules" / "evaluators" / "extra.ts").write_text("export {}\n")


def add_a_line(folder: Path) -> None:
    for name in ("cases.jsonl", "private.jsonl"):
        path = folder / name
        path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])


@pytest.mark.parametrize(
    ("change", "checks", "says"),
    [
        (swap_lines, {2, 3, 4}, "cases.jsonl"),
        (add_a_file, {2}, "modules/evaluators/extra.ts"),
        (add_a_line, {2, 3, 4}, "cases.jsonl"),
        (lambda folder: (folder / "cases.jsonl").unlink(), {2, 3}, "cases.jsonl"),
        (lambda folder: (folder / "modules/evaluators/text.ts").unlink(), {2}, "modules/evaluators/text.ts"),
        (lambda folder: (folder / "manifest.json").unlink(), {1}, "manifest.json"),
    ],
    ids=["swapped line", "extra file", "extra line", "missing cases", "missing module", "missing manifest"],
)
def test_other_alterations(
    kept: Kept, tmp_path: Path, change: Callable[[Path], None], checks: set[int], says: str
) -> None:
    folder = kept.altered(tmp_path)
    change(folder)
    outcome = kept.verify(folder, "--digest", kept.digest)
    assert set(failing(outcome)) == checks
    assert says in outcome.out


def test_a_rebuild_shows_what_was_altered(kept: Kept, tmp_path: Path) -> None:
    folder = kept.altered(tmp_path)
    private = folder / "private.jsonl"
    private.write_bytes(private.read_bytes().replace(b'"umbrella"', b'"Umbrella"', 1))
    outcome = kept.verify(folder, "--digest", kept.digest, "--rebuild", "--repo", "./repo")
    assert failing(outcome) == [2, 3, 8]
    assert "rainy-walk" in outcome.out


def edited(line: str) -> str | None:
    """A `key = value` line with its value changed by a little; None for any other line."""
    name, equals, value = line.partition(" = ")
    if not equals:
        return None
    if value.isdigit():
        return f"{name} = {int(value) + 1}"
    last = value[-2]
    return f'{name} = {value[:-2]}{"1" if last == "0" else "0"}"'


def test_one_edited_value_of_the_lockfile(kept: Kept, tmp_path: Path) -> None:
    """A `requested`, a version, a digest: whatever it is, the lockfile no longer agrees."""
    lines = (kept.folder / "lockfiles" / f"{NAME}.lock.toml").read_text().splitlines()
    assert edited('name = "a0"') == 'name = "a1"'
    numbers = [number for number, line in enumerate(lines) if edited(line) is not None]
    assert len(numbers) > 20
    for number in numbers:
        changed = edited(lines[number])
        assert changed is not None
        path = tmp_path / f"{NAME}.lock.toml"
        path.write_text("\n".join([*lines[:number], changed, *lines[number + 1 :]]) + "\n")
        outcome = kept.verify(path)
        assert 5 in failing(outcome), changed
        assert changed.split(" = ")[0] in outcome.out or "table-sha256: the table was edited" in outcome.out, changed
