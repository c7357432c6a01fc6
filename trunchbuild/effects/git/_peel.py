"""From any object to the commit it stands for."""

from __future__ import annotations

from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import NoRevisionError, UnknownRevisionError
from trunchbuild.core.tree_objects import target_of_tag, tree_of_commit
from trunchbuild.effects.git._objects import ObjectReader
from trunchbuild.errors import BadInputError

_MAX_TAGS = 100
"""Tags of tags; a longer chain is no accident."""


class NotACommitError(BadInputError):
    """A revision leads to a tree or a blob."""

    slug = "not-a-commit"


def peel(reader: ObjectReader, object_id: str, revision: str) -> tuple[str, str]:
    """Follow annotated tags to a commit; return its id and the id of its tree.

    Raises:
        NotACommitError: There is a tree or a blob at the end.
        CorruptRepositoryError, MalformedObjectError: An object on the way is missing, damaged or senseless.
    """
    here = object_id
    for _ in range(_MAX_TAGS):
        kind, raw = reader.read(here, f"revision {revision}")
        if kind == "commit":
            return here, tree_of_commit(raw, reader.object_format, place=f"commit {here}")
        if kind != "tag":
            raise NotACommitError(
                f"the revision `{revision}` is no commit", expected="a commit", got=f"a {kind} ({here})"
            )
        here = target_of_tag(raw, reader.object_format, place=f"tag {here}")
    raise NotACommitError(f"the revision `{revision}` is a chain of more than {_MAX_TAGS} tags")


def no_revision(address: RepoAddress, commit: str | None, ref: str | None) -> NoRevisionError | UnknownRevisionError:
    """The error for REPO without REV: it prints the commit that HEAD would pin."""
    if commit is None:
        return UnknownRevisionError("the repository has no commit yet", place=str(address))
    where = f"HEAD ({ref})" if ref else "HEAD"
    return NoRevisionError(
        f"no revision: a release is built from one commit; {where} is {commit}",
        place=str(address),
        expected="REPO@REV",
        hint=f"to pin it: {address}@{commit}",
    )
