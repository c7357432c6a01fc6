"""`Git` on dulwich: local repositories in place, remote ones through a throwaway object store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import check_revision
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git.api import CommitTree


class DulwichGit:
    """The `Git` door. Holds nothing between calls; dulwich is imported when a repository is opened."""

    def __init__(self, *, ssh_command: str | None = None, limits: GitLimits | None = None) -> None:
        """`ssh_command` replaces `ssh`, as `GIT_SSH_COMMAND` does for Git."""
        self._ssh_command = ssh_command
        self._limits = limits or GitLimits()

    @contextmanager
    def open(self, address: RepoAddress, revision: str | None, *, insecure_http: bool = False) -> Iterator[CommitTree]:
        """Open one commit; see `Git.open`."""
        address.require_allowed(insecure_http=insecure_http)
        if revision is not None:
            check_revision(revision)
        opened: AbstractContextManager[CommitTree]
        if address.is_local:
            from trunchbuild.effects.git._local_commit import open_local_commit  # noqa: PLC0415 - dulwich is heavy

            opened = open_local_commit(address, revision, limits=self._limits)
        else:
            from trunchbuild.effects.git._remote_commit import open_remote_commit  # noqa: PLC0415

            opened = open_remote_commit(
                address, revision, insecure_http=insecure_http, ssh_command=self._ssh_command, limits=self._limits
            )
        with opened as tree:
            yield tree
