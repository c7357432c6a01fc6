"""One suite for everything that holds a benchmark's files: a local commit, a commit over HTTP, a plain folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers.git_http import serve
from tests.support.repos import Entry, Files, link, make_repo
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.tree import FileTooLargeError, LfsPointerError, MissingFileError, NotAFileError, SourceTree
from trunchbuild.core.tree_names import HostileTreeError
from trunchbuild.effects.folder._plain import PlainFolders
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.errors import BadInputError, ExitCode

Opener = Callable[[Files], SourceTree]

LIMIT = 8192

# The example of git-lfs' own specification (docs/spec.md, "The Pointer").
LFS_POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    b"size 12345\n"
)


@pytest.fixture(params=["local commit", "commit over http", "folder"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """A function that puts files where the back end reads them, and opens them there."""
    with ExitStack() as stack:

        def local(files: Files) -> SourceTree:
            commit = make_repo(tmp_path / "repo", files)
            return stack.enter_context(
                DulwichGit(limits=GitLimits(file_bytes=LIMIT)).open(RepoAddress.parse(str(tmp_path / "repo")), commit)
            )

        def remote(files: Files) -> SourceTree:
            commit = make_repo(tmp_path / "repo.git", files, bare=True)
            server = stack.enter_context(serve(tmp_path))
            return stack.enter_context(
                DulwichGit(limits=GitLimits(file_bytes=LIMIT)).open(RepoAddress.parse(server.url()), commit)
            )

        def folder(files: Files) -> SourceTree:
            for name, content in files.items():
                path = tmp_path / "folder" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(content, Entry):
                    path.symlink_to(content.data.decode())
                else:
                    path.write_bytes(content.encode() if isinstance(content, str) else content)
            return PlainFolders(max_file_bytes=LIMIT).open(tmp_path / "folder")

        yield {"local commit": local, "commit over http": remote, "folder": folder}[request.param]


def test_bytes_are_raw(opened: Opener) -> None:
    """Neither line ends nor keywords nor filters change a byte, whatever .gitattributes says."""
    content = b"a\r\nb\rc\n$Id$ $Format:%H$\0\xff"
    files = {".gitattributes": "* text eol=lf ident export-subst filter=lfs\n", "data.txt": content, "empty": b""}
    tree = opened(files)
    assert tree.read("data.txt") == content
    assert tree.read("empty") == b""


def test_crlf_and_lf_stay_apart(opened: Opener) -> None:
    """R102: two files, two digests (printed by `printf ... | sha256sum`); equal bytes have one."""
    tree = opened({"crlf": b"a\r\nb", "lf": b"a\nb", "again": b"a\nb"})
    assert (tree.read("crlf"), tree.read("lf")) == (b"a\r\nb", b"a\nb")
    digests = {name: hashlib.sha256(tree.read(name)).hexdigest()[:8] for name in ("crlf", "lf", "again")}
    assert digests == {"crlf": "18745f36", "lf": "7e18f737", "again": "7e18f737"}


def test_paths_are_sorted_by_code_point_and_leave_out_what_is_no_file(opened: Opener) -> None:
    tree = opened({"b/z.txt": "1", "b.txt": "2", "a/é.txt": "3", "B": "4", "l": link("b.txt"), "b/.gitignore": "5"})
    assert list(tree.paths()) == ["B", "a/é.txt", "b.txt", "b/.gitignore", "b/z.txt"]


def test_is_file(opened: Opener) -> None:
    tree = opened({"d/a.txt": "1", "l": link("d/a.txt"), "m": link("d")})
    assert tree.is_file("d/a.txt")
    for path in ("d", "d/b.txt", "d/A.txt", "D/a.txt", "l", "m/a.txt", "d/a.txt/x", "../d/a.txt", "/d/a.txt", "", "d/"):
        assert not tree.is_file(path), path


def test_prefetch_changes_no_answer(opened: Opener) -> None:
    tree = opened({"a": "1", "b": "2", "l": link("a")})
    tree.prefetch(["a", "b", "missing", "l", "../x", "/etc/hostname"])
    assert (tree.read("a"), tree.read("b")) == (b"1", b"2")
    with pytest.raises(MissingFileError):
        tree.read("missing")


@pytest.mark.parametrize("path", ["Data/x.jsonl", "data/X.jsonl", "data/x.json"])
def test_a_missing_file_names_the_nearest(opened: Opener, path: str) -> None:
    tree = opened({"data/x.jsonl": "1"})
    with pytest.raises(MissingFileError) as caught:
        tree.read(path)
    assert caught.value.faults[0].place == path
    assert any(name in str(caught.value.hint) for name in ("`x.jsonl`", "`data`"))
    assert tree.read("data/x.jsonl") == b"1"


@pytest.mark.parametrize("target", ["real/x", "../../../etc/hostname", "/etc/hostname", "nowhere", "data/link"])
def test_links_are_not_followed(opened: Opener, target: str) -> None:
    """R110: a link out of the tree, a link to a link, and one that stays within."""
    tree = opened({"real/x": "1", "data/link": link(target), "chain": link("data/link"), "dir": link("real")})
    for path in ("data/link", "chain", "dir/x"):
        with pytest.raises(NotAFileError, match="a symbolic link") as caught:
            tree.read(path)
        assert caught.value.exit_code == ExitCode.BAD_INPUT
    assert tree.read("real/x") == b"1"


def test_a_folder_is_no_file_and_a_file_no_folder(opened: Opener) -> None:
    tree = opened({"d/a": "1"})
    with pytest.raises(NotAFileError, match="`d` is a folder"):
        tree.read("d")
    with pytest.raises(NotAFileError, match="`d/a` is a file"):
        tree.read("d/a/b")


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "./a", "a//b", ".git/config", "a\\b", "c:x", "a\0"]
)
def test_paths_that_lead_elsewhere_are_refused(opened: Opener, path: str) -> None:
    tree = opened({"a": "1"})
    with pytest.raises(BadInputError):
        tree.read(path)
    assert tree.read("a") == b"1"


def test_an_lfs_pointer_is_refused_by_name(opened: Opener) -> None:
    text_about_lfs = b"version https://git-lfs.github.com/spec/v1 is what a pointer begins with\n"
    tree = opened({"data.jsonl": LFS_POINTER, "about.txt": text_about_lfs})
    with pytest.raises(LfsPointerError) as caught:
        tree.read("data.jsonl")
    assert caught.value.faults[0].place == "data.jsonl"
    assert "git lfs migrate export" in str(caught.value.hint)
    assert tree.is_file("data.jsonl")
    assert tree.read("about.txt") == text_about_lfs


def test_pointers_of_other_forms_are_refused_too(opened: Opener) -> None:
    """Those that git-lfs itself still takes, and git-annex' unlocked files (its doc/internals/pointer_file.mdwn)."""
    key = b"/annex/objects/SHA256E-s12345--4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393.jsonl\n"
    pointers: dict[str, bytes | str | Entry] = {
        "crlf": LFS_POINTER.replace(b"\n", b"\r\n"),
        "spaced": b"\n " + LFS_POINTER,
        "extended": LFS_POINTER.replace(b"\noid", b"\next-0-case sha256:" + b"0" * 64 + b"\noid"),
        "hawser": LFS_POINTER.replace(b"git-lfs.github.com", b"hawser.github.com"),
        "media": LFS_POINTER.replace(b"https://git-lfs.github.com/spec/v1", b"http://git-media.io/v/2"),
        "annex": key,
    }
    about = b"/annex/objects/ is where git-annex -- in its folder -- keeps content\n"
    tree = opened({**pointers, "about.txt": about, "listing": key + key})
    for path in pointers:
        with pytest.raises(LfsPointerError) as caught:
            tree.read(path)
        assert caught.value.faults[0].place == path
    assert (tree.read("about.txt"), tree.read("listing")) == (about, key + key)


def test_size_limit(opened: Opener) -> None:
    """A file of just the limit is read, one byte more is refused, by name."""
    tree = opened({"most": bytes(LIMIT), "more": bytes(LIMIT + 1)})
    with pytest.raises(FileTooLargeError) as caught:
        tree.read("more")
    assert caught.value.faults[0].place == "more"
    assert "8,193" in str(caught.value)
    assert tree.read("most") == bytes(8192)


@pytest.mark.parametrize(("name", "other"), [("a.txt", "A.TXT"), ("caf\u00e9", "cafe\u0301")])
def test_names_that_fall_together_are_refused_where_they_are_needed(opened: Opener, name: str, other: str) -> None:
    tree = opened({f"d/{name}": "1", f"d/{other}": "2", "d/b": "3", "e": "4"})
    with pytest.raises(HostileTreeError) as caught:
        tree.read(f"d/{name}")
    assert other in str(caught.value)
    assert tree.read("d/b") == b"3"
    assert tree.read("e") == b"4"
