"""What only a plain folder can hold; the rules that all trees share are in tests/contract/test_source_tree.py."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from trunchbuild.core.tree import MissingFileError, NotAFileError
from trunchbuild.effects.folder._plain import PlainFolders
from trunchbuild.errors import BadInputError, MachineError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    (path / "d").mkdir(parents=True)
    (path / "d/a").write_text("1")
    return path


def test_a_missing_root_and_a_file_as_root(root: Path) -> None:
    for path in (root / "nowhere", root / "d/a"):
        with pytest.raises(BadInputError, match="no such folder"):
            PlainFolders().open(path)


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    assert PlainFolders().open(root.parent / "link").read("d/a") == b"1"


def test_nothing_outside_is_reached(root: Path) -> None:
    (root.parent / "secret").write_text("secret")
    (root / "out").symlink_to("..")
    (root / "d/up").symlink_to("../../secret")
    tree = PlainFolders().open(root)
    for path in ("out/secret", "d/up", "../secret", str(root.parent / "secret")):
        with pytest.raises(BadInputError):
            tree.read(path)
        assert not tree.is_file(path)
    assert list(tree.paths()) == ["d/a"]


def test_pipes_sockets_and_devices_are_no_files(root: Path) -> None:
    """And none of them is waited for."""
    os.mkfifo(root / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(root / "socket"))
    tree = PlainFolders().open(root)
    for path in ("pipe", "socket"):
        with pytest.raises(NotAFileError, match="device, pipe or socket"):
            tree.read(path)
        assert not tree.is_file(path)
    assert list(tree.paths()) == ["d/a"]
    listener.close()
    with pytest.raises(NotAFileError):
        PlainFolders().open(Path("/dev")).read("null")


def test_git_metadata_and_hostile_names_are_left_out(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".git/config").write_text("x")
    (root / "back\\slash").write_text("x")
    (root / "new\nline").write_text("x")
    os.close(os.open(os.fsencode(root) + b"/\xff", os.O_CREAT))
    tree = PlainFolders().open(root)
    assert list(tree.paths()) == ["d/a"]
    for path in (".git/config", "back\\slash", "new\nline"):
        with pytest.raises(BadInputError):
            tree.read(path)


def test_changes_on_disk_are_seen(root: Path) -> None:
    tree = PlainFolders().open(root)
    with pytest.raises(MissingFileError):
        tree.read("d/b")
    (root / "d/b").write_text("2")
    os.utime(root / "d", ns=(1, 1))
    assert tree.read("d/b") == b"2"
    (root / "d/a").write_text("3")
    assert tree.read("d/a") == b"3"


def test_a_folder_that_goes_away(root: Path) -> None:
    tree = PlainFolders().open(root)
    root.rename(root.parent / "moved")
    with pytest.raises(MachineError, match="No such file"):
        tree.read("d/a")
    with pytest.raises(MachineError, match="No such file"):
        list(tree.paths())
