"""One commit of a repository on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trunchbuild.core.ids import CommitSha
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import (
    Resolution,
    UnknownRevisionError,
    candidate_refs,
    is_abbreviation,
    is_full_id,
    names_there,
    resolve_revision,
)
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._local import LocalRepository, open_local
from trunchbuild.effects.git._peel import no_revision, peel
from trunchbuild.effects.git._tree import ObjectTree
from trunchbuild.effects.git._worktree import dirty_warning
from trunchbuild.effects.git.api import Pin
from trunchbuild.errors import BadInputError, TrunchbuildError


@contextmanager
def open_local_commit(address: RepoAddress, revision: str | None, *, limits: GitLimits) -> Iterator[ObjectTree]:
    """Open `revision` in place; nothing is fetched, written or run. See `Git.open`."""
    repository = open_local(Path(address.path), max_bytes=limits.file_bytes)
    try:
        head = repository.head()
        if revision is None:
            raise no_revision(address, repository.ids_of(["HEAD"]).get("HEAD"), head)
        found = _resolve(repository, revision, head)
        commit, tree = peel(repository.reader, found.object_id, revision)
        warning = dirty_warning(repository, _head_tree(repository))
        pin = Pin(
            url=address.url,
            requested=revision,
            resolved_ref=found.ref,
            object_format=repository.reader.object_format,
            commit=CommitSha(commit),
            tree=tree,
            warnings=(warning,) if warning else (),
        )
        yield ObjectTree(pin, repository.reader, worktree=repository.worktree, max_paths=limits.paths)
    finally:
        repository.close()


def _resolve(repository: LocalRepository, revision: str, head: str | None) -> Resolution:
    reader = repository.reader
    abbreviated = []
    if is_abbreviation(revision, reader.object_format):
        abbreviated = [full for full in reader.ids_with_prefix(revision) if _leads_to_commit(repository, full)]
    by_id_alone = repository.refs is None and is_full_id(revision, reader.object_format)
    try:
        found = resolve_revision(
            revision,
            {} if by_id_alone else repository.ids_of(candidate_refs(revision)),
            object_format=reader.object_format,
            head=head,
            abbreviated=abbreviated,
        )
    except UnknownRevisionError as error:
        raise UnknownRevisionError(error.message, hint=names_there(revision, repository.names())) from error
    if not reader.has(found.object_id):
        hint = reader.missing_hint or "`git fetch` may bring it"
        raise UnknownRevisionError(f"no object {found.object_id} in this repository", place=revision, hint=hint)
    return found


def _leads_to_commit(repository: LocalRepository, object_id: str) -> bool:
    try:
        peel(repository.reader, object_id, object_id)
    except BadInputError:
        return False
    return True


def _head_tree(repository: LocalRepository) -> str | None:
    """The tree of the commit that is checked out; None where there is none to compare with."""
    if repository.worktree is None:
        return None
    try:
        return peel(repository.reader, repository.ids_of(["HEAD"])["HEAD"], "HEAD")[1]
    except (TrunchbuildError, KeyError):
        return None
