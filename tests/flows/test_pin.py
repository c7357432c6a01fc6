"""From `REPO@REV` to the files of a commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.servers.git_http import serve
from tests.support.repos import git, make_repo
from trunchbuild.core.revision import NoRevisionError
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.errors import UsageError
from trunchbuild.flows.pin import open_target


def test_local_target_with_a_dirty_worktree(tmp_path: Path) -> None:
    commit = make_repo(tmp_path / "my@bench", {"a": "1\n"})
    said: list[str] = []
    with open_target(f"{tmp_path}/my@bench@main", git=DulwichGit(), warn=said.append) as tree:
        assert (tree.pin.commit, tree.read("a"), said) == (commit, b"1\n", [])
    (tmp_path / "my@bench/a").write_text("changed\n")
    with open_target(f"{tmp_path}/my@bench@main", git=DulwichGit(), warn=said.append) as tree:
        assert tree.read("a") == b"1\n"
    assert len(said) == 1
    assert "`a`" in said[0]


def test_one_commit_by_three_ways_is_one_pin(tmp_path: Path) -> None:
    commit = make_repo(tmp_path / "repo", {"a": "1\n"})
    with serve(tmp_path) as server:
        found = []
        for target in (
            f"{tmp_path}/repo@{commit}",
            f"file://{tmp_path}/repo@{commit}",
            f"{server.url('repo')}@{commit}",
        ):
            with open_target(target, git=DulwichGit(), warn=lambda _: None) as tree:
                found.append(
                    (tree.pin.object_format, tree.pin.commit, tree.pin.tree, tree.pin.requested, tree.read("a"))
                )
    assert set(found) == {("sha1", commit, git(tmp_path / "repo", "rev-parse", "HEAD^{tree}"), commit, b"1\n")}


def test_a_target_without_revision_and_a_refused_one(tmp_path: Path) -> None:
    commit = make_repo(tmp_path / "repo", {"a": "1\n"})
    for target, error, word in [(f"{tmp_path}/repo", NoRevisionError, commit), ("ext::sh@main", UsageError, "ext::")]:
        opened = open_target(target, git=DulwichGit(), warn=lambda _: None)
        with pytest.raises(error, match=word), opened:
            pass
