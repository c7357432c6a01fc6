"""Writing a user's files: all or none, never in the place of something else."""

from __future__ import annotations

import fcntl
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


KILLED = ".x.0123456789ab.tmp"


def test_what_a_killed_process_left_of_a_file_is_removed_with_its_next_writing(tmp_path: Path) -> None:
    (tmp_path / KILLED).write_text("half")
    (tmp_path / ".y.0123456789ab.tmp").write_text("half of the same command's other file")
    others = [".y.ba9876543210.tmp", ".x.0123456789ab.tmp.bak", ".x.tmp", "x.0123456789ab.tmp"]
    for name in others:
        (tmp_path / name).write_text("another's")
    FILES.replace([NewFile(tmp_path / "x", [b"new"])])
    assert sorted(everything(tmp_path)) == sorted([*others, "x"])


def test_what_a_living_process_holds_is_no_leftover(tmp_path: Path) -> None:
    """The twin: somebody still writes it."""
    (tmp_path / KILLED).write_text("half")
    with (tmp_path / KILLED).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        FILES.replace([NewFile(tmp_path / "x", [b"new"])])
        assert sorted(everything(tmp_path)) == [KILLED, "x"]
    FILES.replace([NewFile(tmp_path / "x", [b"newer"])])
    assert everything(tmp_path) == {"x": "newer"}


def test_what_others_could_not_read_they_cannot_read_after(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "x").chmod(0o600)
    FILES.replace([NewFile(tmp_path / "x", [b"new"])])
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    FILES.write_folder(target, [NewFile(target / "a", [b"1"]), NewFile(target / "b" / "c", [b"2"])])
    assert everything(tmp_path) == {"deep/out/a": "1", "deep/out/b/c": "2"}


def test_a_folder_that_fails_halfway_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    with pytest.raises(BadInputError, match="third case"):
        FILES.write_folder(target, [NewFile(target / "a", [b"1"]), NewFile(target / "b", fails_halfway())])
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_gives_way_but_where_somebody_stands_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, stays in (("free", False), ("stood-in", True)):
        target = tmp_path / name
        target.mkdir()
        before = target.stat().st_ino
        if stays:
            monkeypatch.chdir(target)
        # Held, so that its number is given to no other folder.
        held = os.open(target, os.O_RDONLY)
        FILES.write_folder(target, [NewFile(target / "a", [b"1"])])
        os.close(held)
        assert everything(target) == {"a": "1"}
        assert (target.stat().st_ino == before) is stays


def test_a_folder_of_a_killed_process_is_removed_with_its_next_writing(tmp_path: Path) -> None:
    left = tmp_path / ".out.0123456789ab.tmp"
    (left / "modules").mkdir(parents=True)
    (left / "modules" / "x").write_text("half")
    FILES.write_folder(tmp_path / "out", [NewFile(tmp_path / "out" / "a", [b"1"])])
    assert everything(tmp_path) == {"out/a": "1"}


def test_one_at_a_time_in_a_folder(tmp_path: Path) -> None:
    """A second process waits until the first has left, or was killed."""
    target = tmp_path / "locks"
    with FILES.alone_in(target):
        lock = os.open(target, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(lock)


def test_a_folder_that_was_made_to_be_alone_in_goes_with_the_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError), FILES.alone_in(tmp_path / "a" / "locks"):
        raise BadInputError("nothing is written")
    assert list(tmp_path.iterdir()) == []
