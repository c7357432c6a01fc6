"""One commit of a repository on a server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from trunchbuild.core.ids import CommitSha
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import (
    ObjectFormat,
    Resolution,
    UnknownRevisionError,
    candidate_refs,
    is_full_id,
    names_there,
    resolve_revision,
)
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._peel import no_revision, peel
from trunchbuild.effects.git._remote import RemoteObjects
from trunchbuild.effects.git._transport import Transport
from trunchbuild.effects.git._tree import ObjectTree
from trunchbuild.effects.git.api import Pin, UnsupportedRepositoryError


@contextmanager
def open_remote_commit(
    address: RepoAddress, revision: str | None, *, insecure_http: bool, ssh_command: str | None, limits: GitLimits
) -> Iterator[ObjectTree]:
    """Fetch what is needed of `revision` into a temporary folder that is removed on exit. See `Git.open`."""
    transport = Transport(address, insecure_http=insecure_http, ssh_command=ssh_command, limits=limits)
    if revision is None:
        refs, head, _ = transport.refs(["HEAD"])
        raise no_revision(address, refs.get("HEAD"), head)
    found, object_format = _resolve(transport, revision)
    with tempfile.TemporaryDirectory(prefix="trunchbuild-git-", ignore_cleanup_errors=True) as folder:
        objects = RemoteObjects(transport, Path(folder), object_format, limits=limits)
        try:

            def check(refs: Mapping[str, str]) -> None:
                """A full id may also be a ref's name; the server shows such refs while it is asked for the id."""
                if found.ref is None:
                    resolve_revision(revision, refs, object_format=object_format, remote=True)

            objects.fetch_commit(found.object_id, check, list(candidate_refs(revision)))
            commit, tree = peel(objects.reader, found.object_id, revision)
            pin = Pin(
                url=address.url,
                requested=revision,
                resolved_ref=found.ref,
                object_format=object_format,
                commit=CommitSha(commit),
                tree=tree,
            )
            yield ObjectTree(pin, objects.reader, blobs=objects, max_paths=limits.paths)
        finally:
            objects.close()


def _resolve(transport: Transport, revision: str) -> tuple[Resolution, ObjectFormat]:
    """A full id is taken at its word (its length tells the object format); anything else is looked up."""
    for object_format in cast("tuple[ObjectFormat, ...]", ("sha1", "sha256")):
        if is_full_id(revision, object_format):
            return Resolution(None, revision.lower()), object_format
    refs, head, named = transport.refs(["HEAD", *candidate_refs(revision)])
    if named not in {"sha1", "sha256"}:
        raise UnsupportedRepositoryError(f"unknown object format `{named}`", place=str(transport.address))
    object_format = cast("ObjectFormat", named)
    try:
        return resolve_revision(revision, refs, object_format=object_format, head=head, remote=True), object_format
    except UnknownRevisionError as error:
        every, _, _ = transport.refs(["refs/heads/", "refs/tags/"])
        hint = names_there(revision, sorted(name.split("/", 2)[2] for name in every))
        raise UnknownRevisionError(error.message, place=str(transport.address), hint=hint or error.hint) from error
