"""Writing a user's files: all or none, never in the place of something else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from trunchbuild.effects.files._local import LocalFiles
from trunchbuild.effects.files.api import Difference, NewFile
from trunchbuild.errors import BadInputError, MachineError

FILES = LocalFiles()


def everything(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_writes_all_and_makes_folders(tmp_path: Path) -> None:
    FILES.replace([NewFile(tmp_path / "a" / "b.txt", [b"one", b"two"]), NewFile(tmp_path / "c.txt", [])])
    assert everything(tmp_path) == {"a/b.txt": "onetwo", "c.txt": ""}


def test_replaces_and_follows_the_umask(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    old = os.umask(0o027)
    try:
        FILES.replace([NewFile(tmp_path / "x", [b"new"])])
    finally:
        os.umask(old)
    assert (tmp_path / "x").read_text() == "new"
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def fails_halfway() -> Iterator[bytes]:
    yield b"half"
    raise BadInputError("the third case is broken")


def test_an_error_in_the_second_file_leaves_the_first_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "first").write_text("old")
    with pytest.raises(BadInputError, match="third case"):
        FILES.replace([NewFile(tmp_path / "first", [b"new"]), NewFile(tmp_path / "deep" / "er" / "x", fails_halfway())])
    assert everything(tmp_path) == {"first": "old"}
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_never_in_the_place_of_something_else(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "x"
    if kind == "folder":
        target.mkdir()
    elif kind == "link":
        target.symlink_to(tmp_path / "elsewhere")
    else:
        os.mkfifo(target)
    with pytest.raises(MachineError, match="not replaced"):
        FILES.replace([NewFile(tmp_path / "other", [b"1"]), NewFile(target, [b"2"])])
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(MachineError, match="cannot be written"):
        FILES.replace([NewFile(tmp_path / "file" / "x", [b"1"])])
    assert everything(tmp_path) == {"file": "x"}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ([b"a\n", b"b\n"], None),
        ([b"a\nb\n"], None),
        ([b"a\nb"], (2, "", "\n")),
        ([b"a\n", b"c\n"], (2, "c", "b")),
        ([b"a\nb\n", b"c"], (3, "c", "")),
        ([b"a\nbc\n"], (2, "bc", "b\n")),
        ([b"a\r\nb\n"], (1, "a\r", "a\n")),
        ([], (1, "", "a")),
    ],
)
def test_compares_bytes_and_names_the_line(
    tmp_path: Path, content: list[bytes], found: tuple[int, str, str] | None
) -> None:
    (tmp_path / "x").write_bytes(b"a\nb\n")
    expected = [] if found is None else [Difference(tmp_path / "x", *found)]
    assert FILES.differences([NewFile(tmp_path / "x", content)]) == expected


def test_a_missing_file_is_a_difference(tmp_path: Path) -> None:
    assert FILES.differences([NewFile(tmp_path / "x", [])]) == [Difference(tmp_path / "x", None)]


def test_reading_names_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\x00\xff")
    assert FILES.read(tmp_path / "x") == b"\x00\xff"
    with pytest.raises(BadInputError, match="no such file"):
        FILES.read(tmp_path / "y")
    with pytest.raises(BadInputError, match="no such file"):
        FILES.read(tmp_path / "x" / "y")
    with pytest.raises(BadInputError, match="a folder"):
        FILES.read(tmp_path)


def test_the_repository_is_where_git_or_a_config_says(tmp_path: Path) -> None:
    deep = tmp_path / "repo" / "benchmarks" / "x" / "data"
    deep.mkdir(parents=True)
    assert FILES.repository_root(deep) is None
    (tmp_path / "repo" / "benchmarks" / "x" / "benchmark.config.mts").touch()
    assert FILES.repository_root(deep) == tmp_path / "repo" / "benchmarks" / "x"
    (tmp_path / "repo" / ".git").write_text("gitdir: elsewhere\n")
    assert FILES.repository_root(deep) == tmp_path / "repo"


def test_resolving_follows_folders_but_not_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").symlink_to("/etc/hostname")
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    assert FILES.resolve(Path("link/../link/./x")) == tmp_path / "real" / "x"
