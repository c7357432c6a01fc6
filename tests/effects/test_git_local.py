"""Local repositories: each id is confirmed by the `git` program, which shares no code with what is tested."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.repos import add_commit, environment, git, make_repo
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import AmbiguousRevisionError, NoRevisionError, UnknownRevisionError
from trunchbuild.core.tree import MissingFileError
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.git._peel import NotACommitError
from trunchbuild.effects.git.api import (
    CorruptRepositoryError,
    NotARepositoryError,
    Pin,
    UnsupportedRepositoryError,
)
from trunchbuild.errors import ExitCode

FORMATS = pytest.mark.parametrize("object_format", ["sha1", "sha256"])


def pin_of(path: Path | str, revision: str | None) -> Pin:
    with DulwichGit().open(RepoAddress.parse(str(path)), revision) as tree:
        return tree.pin


def read(path: Path, revision: str, file: str) -> bytes:
    with DulwichGit().open(RepoAddress.parse(str(path)), revision) as tree:
        return tree.read(file)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two commits on `main`; the first holds `a` = 1, the second `a` = 2."""
    path = tmp_path / "repo"
    make_repo(path, {"a": "1\n", "d/b": "b\n"})
    add_commit(path, {"a": "2\n"})
    return path


@FORMATS
def test_every_kind_of_revision_leads_to_the_commit_that_git_names(tmp_path: Path, object_format: str) -> None:
    path = tmp_path / "repo"
    first = make_repo(path, {"a": "1\n"}, object_format=object_format)
    second = add_commit(path, {"a": "2\n"})
    git(path, "tag", "light", first)
    git(path, "tag", "-a", "-m", "one", "noted", first)
    git(path, "tag", "-a", "-m", "two", "nested", "noted")
    git(path, "update-ref", "refs/remotes/origin/main", first)
    expected = {
        "main": ("refs/heads/main", second),
        "heads/main": ("refs/heads/main", second),
        "refs/heads/main": ("refs/heads/main", second),
        "HEAD": ("refs/heads/main", second),
        "light": ("refs/tags/light", first),
        "noted": ("refs/tags/noted", first),
        "nested": ("refs/tags/nested", first),
        "origin/main": ("refs/remotes/origin/main", first),
        first: (None, first),
        first.upper(): (None, first),
        first[:12]: (None, first),
        git(path, "rev-parse", "noted"): (None, first),
    }
    for revision, (ref, commit) in expected.items():
        pin = pin_of(path, revision)
        assert (pin.requested, pin.resolved_ref, pin.commit) == (revision, ref, commit)
        assert pin.commit == git(path, "rev-parse", f"{revision.lower() if not ref else revision}^{{commit}}")
        assert pin.tree == git(path, "rev-parse", f"{commit}^{{tree}}")
        assert pin.object_format == git(path, "rev-parse", "--show-object-format") == object_format
        assert (pin.url, pin.warnings) == (None, ())


@FORMATS
def test_files_are_those_that_git_lists(tmp_path: Path, object_format: str) -> None:
    path = tmp_path / "repo"
    files = {f"d{n % 7}/f{n}.txt": f"line {n}\n" * (n % 50) for n in range(40)}
    make_repo(path, files, object_format=object_format)
    add_commit(path, {"d0/f0.txt": "changed\n" * 40})
    for packed in (False, True):
        if packed:
            git(path, "gc", "--quiet", "--aggressive")
            assert list((path / ".git/objects/pack").glob("*.pack"))
        with DulwichGit().open(RepoAddress.parse(str(path)), "main") as tree:
            names = git(path, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
            assert list(tree.paths()) == sorted(names)
            for name in names:
                assert tree.read(name).decode() == git(path, "cat-file", "blob", f"HEAD:{name}") + (
                    "\n" if tree.read(name) else ""
                )


def test_file_url(repo: Path) -> None:
    assert pin_of(f"file://{repo}", "main").commit == git(repo, "rev-parse", "main")
    assert pin_of(f"file://{repo}", "main").url is None


def test_bare_repository(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(repo), "bare.git")
    assert pin_of(tmp_path / "bare.git", "main").commit == git(repo, "rev-parse", "main")


def test_linked_worktree(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"), "HEAD~1")
    assert pin_of(tmp_path / "side", "HEAD").commit == git(repo, "rev-parse", "HEAD~1")
    assert pin_of(tmp_path / "side", "HEAD").resolved_ref == "refs/heads/side"
    assert read(tmp_path / "side", "main", "a") == b"2\n"


def test_detached_head(repo: Path) -> None:
    git(repo, "checkout", "--quiet", "HEAD~1")
    assert pin_of(repo, "HEAD").resolved_ref == "HEAD"
    assert pin_of(repo, "HEAD").commit == git(repo, "rev-parse", "main~1")


@FORMATS
def test_shared_objects(tmp_path: Path, object_format: str) -> None:
    """A clone that borrows its objects, and a clone of that."""
    commit = make_repo(tmp_path / "repo", {"a": "1\n"}, object_format=object_format)
    git(tmp_path / "repo", "gc", "--quiet")
    git(tmp_path, "clone", "--quiet", "--shared", "repo", "second")
    git(tmp_path, "clone", "--quiet", "--shared", "second", "third")
    assert not list((tmp_path / "third/.git/objects").glob("??"))
    assert read(tmp_path / "third", commit, "a") == b"1\n"
    assert read(tmp_path / "third", commit[:10], "a") == b"1\n"


def test_shared_objects_in_a_circle_end(repo: Path, tmp_path: Path) -> None:
    alternates = repo / ".git/objects/info/alternates"
    alternates.parent.mkdir(exist_ok=True)
    alternates.write_text(f"# a circle\n../objects\n{repo}/.git/objects\n/nowhere\n")
    assert read(repo, "main", "a") == b"2\n"
    with pytest.raises(UnknownRevisionError):
        pin_of(repo, "f" * 40)


def test_folders_that_name_one_another_are_searched_once_each(repo: Path, tmp_path: Path) -> None:
    """Thirty folders that each name all thirty make 30^5 paths."""
    commit = git(repo, "rev-parse", "main")
    folders = [repo / ".git/objects", *(tmp_path / f"objects-{number}" for number in range(29))]
    for folder in folders:
        (folder / "info").mkdir(parents=True, exist_ok=True)
        (folder / "info/alternates").write_text("".join(f"{each}\n" for each in folders))
    assert read(repo, commit, "a") == b"2\n"
    assert read(repo, commit[:12], "a") == b"2\n"
    with pytest.raises(UnknownRevisionError):
        pin_of(repo, "f" * 40)


def test_shallow_clone(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo}", "shallow")
    assert read(tmp_path / "shallow", "main", "a") == b"2\n"
    with pytest.raises(UnknownRevisionError) as caught:
        pin_of(tmp_path / "shallow", git(repo, "rev-parse", "main~1"))
    assert "--unshallow" in str(caught.value.hint)


def test_partial_clone(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{repo}", "partial")
    with pytest.raises(CorruptRepositoryError, match="missing") as caught:
        read(tmp_path / "partial", "main", "a")
    assert "partial clone" in str(caught.value.hint)
    git(tmp_path / "partial", "cat-file", "blob", "main:a")
    assert read(tmp_path / "partial", "main", "a") == b"2\n"


def test_packed_refs(repo: Path) -> None:
    git(repo, "tag", "-a", "-m", "v1", "v1")
    git(repo, "pack-refs", "--all")
    assert not (repo / ".git/refs/heads/main").exists()
    assert pin_of(repo, "v1").commit == pin_of(repo, "main").commit == git(repo, "rev-parse", "v1^{commit}")


def test_replace_refs_do_not_count(repo: Path) -> None:
    """`git replace` is a fact of one clone; the commit means what its id says."""
    second, first = git(repo, "rev-parse", "main"), git(repo, "rev-parse", "main~1")
    git(repo, "replace", second, first)
    assert git(repo, "cat-file", "blob", f"{second}:a") == "1"
    assert read(repo, second, "a") == b"2\n"


def test_no_revision_prints_the_commit_it_would_pin(repo: Path) -> None:
    with pytest.raises(NoRevisionError) as caught:
        pin_of(repo, None)
    assert git(repo, "rev-parse", "HEAD") in str(caught.value)
    assert caught.value.hint == f"to pin it: {repo}@{git(repo, 'rev-parse', 'HEAD')}"
    assert caught.value.exit_code == ExitCode.USAGE


def test_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    for revision in (None, "HEAD", "main"):
        with pytest.raises(UnknownRevisionError):
            pin_of(tmp_path, revision)


def test_tag_and_branch_of_one_name(repo: Path) -> None:
    git(repo, "branch", "v1", "main~1")
    git(repo, "tag", "v1", "main")
    with pytest.raises(AmbiguousRevisionError) as caught:
        pin_of(repo, "v1")
    assert f"refs/tags/v1 ({git(repo, 'rev-parse', 'main')})" in str(caught.value)
    assert f"refs/heads/v1 ({git(repo, 'rev-parse', 'main~1')})" in str(caught.value)
    assert pin_of(repo, "refs/heads/v1").commit == git(repo, "rev-parse", "main~1")


def test_branch_whose_name_is_a_full_id(repo: Path) -> None:
    first, second = git(repo, "rev-parse", "main~1"), git(repo, "rev-parse", "main")
    git(repo, "update-ref", f"refs/heads/{first}", second)
    with pytest.raises(AmbiguousRevisionError) as caught:
        pin_of(repo, first)
    assert f"refs/heads/{first} ({second})" in str(caught.value)
    assert pin_of(repo, second).commit == second


def test_branch_whose_name_abbreviates_an_id(repo: Path) -> None:
    first, second = git(repo, "rev-parse", "main~1"), git(repo, "rev-parse", "main")
    git(repo, "branch", first[:8], "main")
    with pytest.raises(AmbiguousRevisionError) as caught:
        pin_of(repo, first[:8])
    assert f"object ({first})" in str(caught.value)
    assert pin_of(repo, first[:9]).commit == first
    assert pin_of(repo, second[:8]).commit == second


@pytest.mark.parametrize("packed", [False, True])
def test_abbreviation_of_two_commits(tmp_path: Path, packed: bool) -> None:
    """With 16^4 prefixes, some pair of 700 commits shares its first four digits (birthday bound: 97.6 %); blobs
    that share them do not count."""
    path = tmp_path / "repo"
    make_repo(path, {"a": "1\n"})
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@example.invalid> {number} +0000\ndata 0\n" for number in range(1500)
    )
    git(path, "fast-import", "--quiet", "--force", stdin=stream.encode())
    if packed:
        git(path, "gc", "--quiet")
    commits = git(path, "rev-list", "main").splitlines()
    shared: dict[str, list[str]] = {}
    for commit in commits:
        shared.setdefault(commit[:4], []).append(commit)
    prefix, pair = next((key, ids) for key, ids in sorted(shared.items()) if len(ids) == 2)
    with pytest.raises(AmbiguousRevisionError) as caught:
        pin_of(path, prefix)
    assert all(commit in str(caught.value) for commit in pair)
    assert pin_of(path, pair[0][:12]).commit == pair[0]


def test_abbreviation_of_a_blob_is_no_commit(repo: Path) -> None:
    blob = git(repo, "rev-parse", "main:a")
    with pytest.raises(UnknownRevisionError):
        pin_of(repo, blob[:10])
    with pytest.raises(NotACommitError, match="a blob"):
        pin_of(repo, blob)
    git(repo, "tag", "-a", "-m", "a tree", "t", "main^{tree}")
    with pytest.raises(NotACommitError, match="a tree"):
        pin_of(repo, "t")


def test_unknown_names_hint_at_known_ones(repo: Path) -> None:
    with pytest.raises(UnknownRevisionError) as caught:
        pin_of(repo, "mian")
    assert caught.value.hint == "did you mean `main`?"


def test_dirty_worktree_is_a_warning_and_only_the_commit_counts(repo: Path) -> None:
    assert pin_of(repo, "main").warnings == ()
    (repo / "untracked").write_text("x")
    assert pin_of(repo, "main").warnings == ()
    (repo / "a").write_text("3\n")  # of the same size
    assert len(pin_of(repo, "main").warnings) == 1
    assert "`a`" in pin_of(repo, "main").warnings[0]
    assert read(repo, "main", "a") == b"2\n"
    git(repo, "checkout", "a")
    assert pin_of(repo, "main").warnings == ()
    os.utime(repo / "a", (0, 0))
    assert pin_of(repo, "main").warnings == ()


def test_a_change_within_one_tick_of_the_clock_is_seen(repo: Path) -> None:
    """Same size, same time, and the index is no younger: only the content tells (Git's "racily clean" entries)."""
    moment = (repo / "a").stat().st_mtime_ns
    (repo / "a").write_text("3\n")
    os.utime(repo / "a", ns=(moment, moment))
    os.utime(repo / ".git/index", ns=(moment, moment))
    assert len(pin_of(repo, "main").warnings) == 1
    assert git(repo, "status", "--porcelain") == " M a"


@pytest.mark.parametrize("change", ["staged", "deleted", "staged deletion", "staged addition", "turned into a link"])
@FORMATS
def test_other_ways_to_be_dirty(tmp_path: Path, change: str, object_format: str) -> None:
    path = tmp_path / "repo"
    make_repo(path, {"a": "1\n", "b": "2\n"}, object_format=object_format)
    match change:
        case "staged":
            (path / "a").write_text("changed\n")
            git(path, "add", "a")
        case "deleted":
            (path / "a").unlink()
        case "staged deletion":
            git(path, "rm", "--quiet", "--cached", "a")
        case "staged addition":
            (path / "c").write_text("c")
            git(path, "add", "c")
        case _:
            (path / "a").unlink()
            (path / "a").symlink_to("b")
    assert git(path, "status", "--porcelain", "--untracked-files=no") != ""
    assert len(pin_of(path, "main").warnings) == 1


def test_a_checkout_with_crlf_is_clean(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    (repo / "a").unlink()
    git(repo, "checkout", "a")
    assert (repo / "a").read_bytes() == b"2\r\n"
    os.utime(repo / "a", (0, 0))
    assert pin_of(repo, "main").warnings == ()
    assert read(repo, "main", "a") == b"2\n"


def test_a_broken_index_stops_nothing(repo: Path) -> None:
    (repo / ".git/index").write_bytes(b"DIRC nonsense")
    assert pin_of(repo, "main").warnings == ()


def test_a_file_that_was_never_committed_gets_a_hint(repo: Path) -> None:
    (repo / "new.jsonl").write_text("{}\n")
    with pytest.raises(MissingFileError) as caught:
        read(repo, "main", "new.jsonl")
    assert "git add" in str(caught.value.hint)


def test_hooks_filters_and_config_commands_never_run(repo: Path, tmp_path: Path) -> None:
    """Opening a stranger's repository runs nothing of it."""
    trap = tmp_path / "ran"
    for name in ("core.fsmonitor", "filter.x.smudge", "filter.x.clean", "core.sshCommand", "core.pager"):
        git(repo, "config", name, f"touch {trap}")
    (repo / ".gitattributes").write_text("* filter=x\n")
    (repo / "a").write_text("changed\n")
    before = {file: file.stat().st_mtime_ns for file in repo.rglob("*")}
    assert read(repo, "main", "a") == b"2\n"
    assert not trap.exists()
    assert {file: file.stat().st_mtime_ns for file in repo.rglob("*")} == before


def test_a_repository_that_nobody_may_write_is_read(repo: Path) -> None:
    subprocess.run(["chmod", "-R", "a-w", str(repo)], check=True)
    try:
        assert read(repo, "main", "a") == b"2\n"
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(repo)], check=True)


def test_no_repository(tmp_path: Path, repo: Path) -> None:
    with pytest.raises(NotARepositoryError, match="no such folder"):
        pin_of(tmp_path / "nowhere", "main")
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotARepositoryError) as caught:
        pin_of(tmp_path / "plain", "main")
    assert caught.value.exit_code == ExitCode.BAD_INPUT
    with pytest.raises(NotARepositoryError) as caught:
        pin_of(repo / "d", "main")
    assert str(repo) in str(caught.value.hint)


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        (("core.repositoryformatversion", "2"), "format"),
        (("extensions.futureThing", "yes"), "futurething"),
        (("extensions.objectFormat", "md5"), "md5"),
        (("extensions.refStorage", "rocks"), "rocks"),
    ],
)
def test_what_is_not_supported_is_named(repo: Path, setting: tuple[str, str], word: str) -> None:
    git(repo, "config", "core.repositoryformatversion", "1")
    assert pin_of(repo, "main").commit == git(repo, "rev-parse", "main")
    git(repo, "config", *setting)
    with pytest.raises(UnsupportedRepositoryError, match=word):
        pin_of(repo, "main")


@pytest.mark.parametrize("text", ["rubbish", "0123", "\x00\xff", "A" * 40])
def test_a_broken_ref(repo: Path, text: str) -> None:
    (repo / ".git/refs/heads/bad").write_bytes(text.encode("latin-1"))
    with pytest.raises(CorruptRepositoryError, match="no object id"):
        pin_of(repo, "bad")


@pytest.mark.parametrize("name", ["config", "HEAD", "packed-refs", "commondir", "refs/heads/main"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(repo: Path, name: str) -> None:
    assert pin_of(repo, "main").commit == git(repo, "rev-parse", "main")
    file = repo / ".git" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with pytest.raises(CorruptRepositoryError, match="a pipe"):
        pin_of(repo, None if name == "HEAD" else "main")


def test_files_that_a_config_includes_are_not_read(repo: Path, tmp_path: Path) -> None:
    """Git reads a repository's format from its own config alone (`man git-config`); `/dev/zero` never ends."""
    commit = git(repo, "rev-parse", "main")
    (tmp_path / "more").write_text("[extensions]\n\tfutureThing = yes\n")
    config = repo / ".git/config"
    own = config.read_text()
    config.write_text(own.replace("repositoryformatversion = 0", "repositoryformatversion = 1"))
    config.write_text(config.read_text() + f"[include]\n\tpath = {tmp_path}/more\n[include]\n\tpath = /dev/zero\n")
    assert pin_of(repo, "main").commit == commit
    config.write_text(own.replace("repositoryformatversion = 0", "repositoryformatversion = 1"))
    config.write_text(config.read_text() + (tmp_path / "more").read_text())
    with pytest.raises(UnsupportedRepositoryError, match="futurething"):
        pin_of(repo, "main")


def test_refs_in_a_circle(repo: Path) -> None:
    (repo / ".git/refs/heads/x").write_text("ref: refs/heads/y\n")
    (repo / ".git/refs/heads/y").write_text("ref: refs/heads/x\n")
    with pytest.raises(CorruptRepositoryError, match="ref"):
        pin_of(repo, "x")


def test_refs_in_a_reftable_are_named_and_full_ids_work(repo: Path) -> None:
    commit = git(repo, "rev-parse", "main")
    git(repo, "config", "core.repositoryformatversion", "1")
    config = repo / ".git/config"
    config.write_text(config.read_text() + "[extensions]\n\trefStorage = reftable\n")
    assert pin_of(repo, commit).commit == commit
    for revision in ("main", "HEAD", None, commit[:10]):
        with pytest.raises(UnsupportedRepositoryError, match="reftable"):
            pin_of(repo, revision)


def test_moved_branch_does_not_move_a_pin(repo: Path) -> None:
    first = git(repo, "rev-parse", "main~1")
    git(repo, "reset", "--quiet", "--hard", "main~1")
    add_commit(repo, {"a": "other\n"})
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "--quiet", "--prune=now")
    assert read(repo, first, "a") == b"1\n"


def test_git_and_this_reader_agree_on_a_real_tree(tmp_path: Path) -> None:
    """The checkout of this very project, if it is one: all paths and a hundred files."""
    checkout = Path(__file__).resolve().parents[2]
    if shutil.which("git") is None or not (checkout / ".git").exists():
        pytest.skip("not a checkout")
    with DulwichGit().open(RepoAddress.parse(str(checkout)), "HEAD") as tree:
        listed = subprocess.run(
            ["git", "-C", str(checkout), "ls-tree", "-r", "-z", "--name-only", tree.pin.commit],
            env=environment()
            | {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
            capture_output=True,
            check=True,
        ).stdout.decode()
        assert list(tree.paths()) == sorted(listed.rstrip("\0").split("\0"))
