"""Commits of repositories, read without a work tree."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from trunchbuild.core.ids import CommitSha
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.tree import SourceTree
from trunchbuild.errors import BadInputError, ExitCode, MachineError


class NotARepositoryError(BadInputError):
    """There is no Git repository at the address."""

    slug = "not-a-repository"


class UnsupportedRepositoryError(BadInputError):
    """The repository uses an extension or a transport that is not read here."""

    slug = "unsupported-repository"


class CorruptRepositoryError(BadInputError):
    """An object is missing, or its bytes are not those that its id names."""

    slug = "corrupt-repository"


class RepositoryUnreachableError(MachineError):
    """The server did not answer, or not as a Git server does."""

    slug = "repository-unreachable"


class CommitNotServedError(MachineError):
    """The server answers and does not give the commit, by id or by any ref."""

    slug, exit_code = "commit-not-served", ExitCode.MACHINE


@dataclass(frozen=True, slots=True)
class Pin:
    """Which commit was asked for and which was found; recorded in lockfile and provenance.

    `url` has no user info and is None for a local repository. `requested` is REV as typed; `resolved_ref` is the full
    ref name where REV was a branch or tag (for HEAD, the ref it points to).
    """

    url: str | None
    requested: str
    resolved_ref: str | None
    object_format: Literal["sha1", "sha256"]
    commit: CommitSha
    tree: str
    warnings: tuple[str, ...] = ()
    """For people: a dirty work tree, for example."""


class CommitTree(SourceTree, Protocol):
    """The files of one pinned commit; every byte comes from an object that was re-hashed on reading."""

    @property
    def pin(self) -> Pin:
        """The commit that this tree belongs to."""
        ...

    def commit_object(self) -> bytes:
        """The commit's own bytes, re-hashed; for its signature."""
        ...


class Git(Protocol):
    """Opens one commit of one repository."""

    def open(
        self, address: RepoAddress, revision: str | None, *, insecure_http: bool = False
    ) -> AbstractContextManager[CommitTree]:
        """Resolve `revision`, open the commit; a throwaway clone is removed on exit.

        Raises:
            UsageError: No revision (the message prints the commit it would pin), or plain http to another host.
            BadInputError: Ambiguous or unknown revision, corrupt objects, hostile trees.
            MachineError: The repository cannot be reached, or the server does not give that commit.
        """
        ...
