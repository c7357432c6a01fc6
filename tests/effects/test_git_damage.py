"""Damaged and hostile repositories: an error of ours that names the place, never other bytes and never a traceback."""

from __future__ import annotations

import os
import zlib
from hashlib import sha1
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.repos import DATE, PERSON, git, make_repo, submodule
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.tree import FileTooLargeError, NotAFileError
from trunchbuild.core.tree_names import HostileTreeError
from trunchbuild.core.tree_objects import MalformedObjectError
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.git._folders import Store
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._objects import ObjectReader
from trunchbuild.effects.git._tree import ObjectTree
from trunchbuild.effects.git.api import CorruptRepositoryError, Pin
from trunchbuild.errors import BadInputError, ExitCode, TrunchbuildError

CONTENT = b"".join(b"line %d of the file\n" % number for number in range(400))
FORMATS = pytest.mark.parametrize("object_format", ["sha1", "sha256"])


def read(path: Path, revision: str, file: str, **limits: int) -> bytes:
    with DulwichGit(limits=GitLimits(**limits)).open(RepoAddress.parse(str(path)), revision) as tree:
        return tree.read(file)


def write_loose(repo: Path, raw: bytes, kind: str, named: str | None = None) -> str:
    """Write an object the way Git does, without any of its checks; `named` gives it a false name."""
    whole = f"{kind} {len(raw)}\0".encode() + raw
    name = named or sha1(whole).hexdigest()
    path = repo / ".git/objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(whole, 1))
    return name


def commit_of(repo: Path, tree: str) -> str:
    raw = f"tree {tree}\nauthor {PERSON} {DATE} +0000\ncommitter {PERSON} {DATE} +0000\n\nx\n".encode()
    return write_loose(repo, raw, "commit")


def tree_of(repo: Path, entries: list[tuple[str, bytes, str]]) -> str:
    raw = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(each) for mode, name, each in entries)
    return write_loose(repo, raw, "tree")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    path = tmp_path / "repo"
    make_repo(path, {"a": CONTENT, "b": CONTENT + b"more\n", "other": "x\n"})
    return path


@pytest.fixture
def blob(repo: Path) -> str:
    return write_loose(repo, b"content\n", "blob")


@FORMATS
@pytest.mark.parametrize("what", ["blob", "tree", "commit"])
@pytest.mark.parametrize("harm", ["other content", "other kind", "cut", "emptied", "no zlib", "removed"])
def test_a_harmed_loose_object(tmp_path: Path, object_format: str, what: str, harm: str) -> None:
    path = tmp_path / "repo"
    commit = make_repo(path, {"d/a": "right\n", "other": "x\n"}, object_format=object_format)
    assert read(path, commit, "d/a") == b"right\n"
    name = git(path, "rev-parse", {"blob": f"{commit}:d/a", "tree": f"{commit}:d", "commit": commit}[what])
    file = path / ".git/objects" / name[:2] / name[2:]
    whole = zlib.decompress(file.read_bytes())
    file.chmod(0o644)
    match harm:
        case "other content":
            file.write_bytes(zlib.compress(whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:]))
        case "other kind":
            file.write_bytes(zlib.compress(b"tag " + whole.split(b" ", 1)[1]))
        case "cut":
            file.write_bytes(file.read_bytes()[:-8])
        case "emptied":
            file.write_bytes(b"")
        case "no zlib":
            file.write_bytes(b"nonsense " * 9)
        case _:
            file.unlink()
    with pytest.raises(BadInputError) as caught:
        read(path, commit, "d/a")
    assert caught.value.exit_code == ExitCode.BAD_INPUT
    assert name in str(caught.value)


@FORMATS
def test_any_flipped_byte_of_a_pack_gives_an_error_or_the_right_bytes(tmp_path: Path, object_format: str) -> None:
    """Every 61st byte of the pack and of its index in turn; deltas among them."""
    path = tmp_path / "repo"
    files = {"a": CONTENT, "b": CONTENT + b"more\n", "d/c": CONTENT[:-40]}
    commit = make_repo(path, files, object_format=object_format)
    git(path, "gc", "--quiet", "--aggressive")
    (path / ".git/index").unlink()
    errors = 0
    for suffix in ("pack", "idx"):
        file = next((path / ".git/objects/pack").glob(f"*.{suffix}"))
        file.chmod(0o644)
        good = file.read_bytes()
        for place in range(0, len(good), 61):
            file.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
            for name, content in files.items():
                try:
                    assert read(path, commit, name) == content
                except TrunchbuildError:
                    errors += 1
        file.write_bytes(good)
    assert errors > 20
    assert read(path, commit, "d/c") == files["d/c"]


def test_an_object_under_a_false_name_is_refused(repo: Path) -> None:
    """What `get_raw()` of the library would hand out."""
    name = git(repo, "rev-parse", "main:a")
    write_loose(repo, b"forged\n", "blob", named=name)
    assert git(repo, "cat-file", "blob", name) == "forged"
    with pytest.raises(CorruptRepositoryError, match="damaged") as caught:
        read(repo, "main", "a")
    assert caught.value.faults[0].place == "a"
    assert read(repo, "main", "other") == b"x\n"


def test_a_tree_that_calls_a_tree_a_file(repo: Path, blob: str) -> None:
    inner = tree_of(repo, [("100644", b"x", blob)])
    commit = commit_of(repo, tree_of(repo, [("100644", b"a", inner), ("40000", b"b", blob)]))
    with pytest.raises(MalformedObjectError, match="the object is a tree"):
        read(repo, commit, "a")
    with pytest.raises(MalformedObjectError, match="is a blob"):
        read(repo, commit, "b/x")


@pytest.mark.parametrize("raw", [b"100644 a\0short", b"999 a\0" + bytes(20), b"100644"])
def test_a_senseless_tree(repo: Path, raw: bytes) -> None:
    commit = commit_of(repo, write_loose(repo, raw, "tree"))
    with pytest.raises((MalformedObjectError, CorruptRepositoryError)) as caught:
        read(repo, commit, "a")
    assert caught.value.exit_code == ExitCode.BAD_INPUT


@pytest.mark.parametrize("raw", [b"", b"tree 12\n", b"parent " + b"a" * 40 + b"\n", b"\xff" * 60])
def test_a_senseless_commit(repo: Path, raw: bytes) -> None:
    commit = write_loose(repo, raw, "commit")
    with pytest.raises((MalformedObjectError, CorruptRepositoryError)):
        read(repo, commit, "a")


@pytest.mark.parametrize(
    "name",
    [b".", b"..", b".git", b".GIT", b"git~1", b"a\\b", b"c:x", b"a\x1bb", b"a\nb", b"\xff", b".git ", b"a/b", b""],
)
def test_hostile_names_are_never_listed_nor_read(repo: Path, blob: str, name: bytes) -> None:
    inner = tree_of(repo, [("100644", b"x", blob)])
    commit = commit_of(repo, tree_of(repo, [("40000", name, inner), ("100644", b"ok", blob)]))
    with DulwichGit().open(RepoAddress.parse(str(repo)), commit) as tree:
        assert list(tree.paths()) == ["ok"]
        assert tree.read("ok") == b"content\n"
        path = f"{os.fsdecode(name)}/x"
        with pytest.raises(BadInputError):
            tree.read(path)
        assert not tree.is_file(path)


def test_a_name_that_stands_twice(repo: Path, blob: str) -> None:
    second = write_loose(repo, b"second\n", "blob")
    entries = [("100644", b"a", blob), ("100644", b"a", second), ("100644", b"b", blob)]
    commit = commit_of(repo, tree_of(repo, entries))
    with pytest.raises(HostileTreeError, match="stands 2 times"):
        read(repo, commit, "a")
    assert read(repo, commit, "b") == b"content\n"


def test_submodules_are_refused_by_name(repo: Path) -> None:
    """Also a submodule within a submodule: nothing of it is in this repository, and nothing reads as empty."""
    make_repo(repo.parent / "outer", {".gitmodules": '[submodule "d"]\n\tpath = d\n\turl = ../data.git\n',
                                      "d": submodule("1" * 40), "e": "x\n"})  # fmt: skip
    for path in ("d", "d/data.jsonl", "d/inner/data.jsonl"):
        with pytest.raises(NotAFileError, match="`d` is a submodule") as caught:
            read(repo.parent / "outer", "main", path)
        assert "commit copies" in str(caught.value.hint)
    with DulwichGit().open(RepoAddress.parse(str(repo.parent / "outer")), "main") as tree:
        assert list(tree.paths()) == [".gitmodules", "e"]


def test_a_git_bomb_ends(repo: Path, blob: str) -> None:
    """Ten trees that each name the next ten times: 10^10 paths in eleven objects."""
    here = tree_of(repo, [("100644", b"f%d" % n, blob) for n in range(10)])
    for _ in range(9):
        here = tree_of(repo, [("40000", b"d%d" % n, here) for n in range(10)])
    commit = commit_of(repo, here)
    reader = ObjectReader(Store(repo / ".git/objects", "sha1"), "sha1")
    pin = Pin(None, commit, None, "sha1", commit, here)  # type: ignore[arg-type]
    with pytest.raises(MalformedObjectError, match="too many files"):
        ObjectTree(pin, reader, max_paths=10_000).paths()
    assert ObjectTree(pin, reader, max_paths=1).read("d0/" * 9 + "f9") == b"content\n"
    reader.close()


@pytest.mark.parametrize("packed", [False, True])
def test_an_object_over_the_limit_is_not_inflated(repo: Path, packed: bool) -> None:
    """Its stated size decides, so a bomb costs nothing: this file would inflate to 66 MB."""
    big = write_loose(repo, bytes(66 << 20), "blob")
    commit = commit_of(repo, tree_of(repo, [("100644", b"big", big)]))
    if packed:
        git(repo, "update-ref", "refs/heads/big", commit)
        git(repo, "repack", "-a", "-d", "--quiet")
        assert not (repo / ".git/objects" / big[:2] / big[2:]).exists()
    with pytest.raises(FileTooLargeError, match=f"{66 << 20:,}"):
        read(repo, commit, "big")


def test_a_delta_over_the_limit_is_found_by_its_result(repo: Path) -> None:
    git(repo, "gc", "--quiet", "--aggressive")
    listing = git(repo, "verify-pack", "-v", str(next((repo / ".git/objects/pack").glob("*.idx"))))
    in_delta = {line.split()[0] for line in listing.splitlines() if len(line.split()) == 7}
    delta = next(name for name in ("a", "b") if git(repo, "rev-parse", f"main:{name}") in in_delta)
    size = len(CONTENT if delta == "a" else CONTENT + b"more\n")
    assert len(read(repo, "main", delta, file_bytes=size)) == size
    with pytest.raises(FileTooLargeError, match=f"{size:,}"):
        read(repo, "main", delta, file_bytes=size - 1)


def test_a_loose_object_that_lies_about_its_size(repo: Path) -> None:
    raw = bytes(65 << 20)
    name = sha1(b"blob 10\0" + raw).hexdigest()
    path = repo / ".git/objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(b"blob 10\0" + raw, 1))
    commit = commit_of(repo, tree_of(repo, [("100644", b"liar", name)]))
    with pytest.raises(CorruptRepositoryError, match="damaged"):
        read(repo, commit, "liar")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=80))
def test_any_bytes_as_root_tree(repo: Path, raw: bytes) -> None:
    commit = commit_of(repo, write_loose(repo, raw, "tree"))
    try:
        with DulwichGit().open(RepoAddress.parse(str(repo)), commit) as tree:
            list(tree.paths())
            tree.is_file("a/b")
            tree.read("a/b")
    except TrunchbuildError as error:
        assert error.exit_code == ExitCode.BAD_INPUT  # noqa: PT017 - an error is one of two good outcomes
