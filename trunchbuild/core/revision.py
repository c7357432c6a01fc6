"""Which commit a revision means, given the refs and object ids that exist: pure rules, stricter than Git's own.

Git takes the first that matches and prints a warning (`man gitrevisions`); here two meanings are an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.tree import closest
from trunchbuild.errors import BadInputError, ExitCode, UsageError

NAMES_SHOWN = 5
ObjectFormat = Literal["sha1", "sha256"]

HEX_LENGTH: Mapping[ObjectFormat, int] = {"sha1": 40, "sha256": 64}
"""Digits of a full object id."""
SHORTEST_ABBREVIATION = 4
"""Hex digits; Git's own minimum (`core.abbrev`)."""

_HEX = re.compile(r"[0-9a-fA-F]+\Z")
# `man git-check-ref-format`, rules 1 to 10, as what must not occur.
_NOT_A_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(?:^|/)\.|\.lock(?:/|$)|^/|/$|\.$|^@$")


class AmbiguousRevisionError(BadInputError):
    """A revision names more than one thing."""

    slug = "ambiguous-revision"


class UnknownRevisionError(BadInputError):
    """A revision names nothing in the repository."""

    slug = "unknown-revision"


class NoRevisionError(UsageError):
    """REPO was given without `@REV`."""

    slug, exit_code = "no-revision", ExitCode.USAGE


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a revision means: an object id, not yet peeled, and the ref that led to it (None for an id)."""

    ref: str | None
    object_id: str


def check_revision(revision: str) -> None:
    """Refuse what is no id, branch or tag name before any repository is asked.

    Raises:
        UsageError: The revision uses Git's navigation (`main~1`, `HEAD^`, `a..b`, `@{u}`) or is no legal name.
    """
    if _NOT_A_REF.search(revision) or revision.startswith("-") or not revision:
        raise UsageError(
            "not a revision",
            expected="a full commit id, a branch, a tag or HEAD",
            got=repr(revision),
            hint="give the commit's full id; `git rev-parse REV` prints it",
        )


def candidate_refs(revision: str) -> tuple[str, ...]:
    """The full ref names that a revision may stand for, in the order of `man gitrevisions`."""
    if revision == "HEAD":
        return ("HEAD", "refs/tags/HEAD", "refs/heads/HEAD")
    if revision.startswith("refs/"):
        return (revision,)
    return (
        f"refs/{revision}",
        f"refs/tags/{revision}",
        f"refs/heads/{revision}",
        f"refs/remotes/{revision}",
    )


def is_full_id(revision: str, object_format: ObjectFormat) -> bool:
    """Whether the text has the length and the digits of a full object id."""
    return len(revision) == HEX_LENGTH[object_format] and _HEX.match(revision) is not None


def is_abbreviation(revision: str, object_format: ObjectFormat) -> bool:
    """Whether the text may abbreviate an object id."""
    return SHORTEST_ABBREVIATION <= len(revision) < HEX_LENGTH[object_format] and _HEX.match(revision) is not None


def names_there(revision: str, names: Sequence[str]) -> str | None:
    """A hint after an unknown revision: the branch or tag that was meant, else the first few; None without any."""
    shown = ", ".join(f"`{name}`" for name in names[:NAMES_SHOWN])
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return closest(revision, names) or (f"its branches and tags are {shown}{more}" if names else None)


def resolve_revision(
    revision: str,
    refs: Mapping[str, str],
    *,
    object_format: ObjectFormat,
    head: str | None = None,
    abbreviated: Sequence[str] = (),
    remote: bool = False,
) -> Resolution:
    """Decide what `revision` means.

    Args:
        revision: REV as typed, accepted by `check_revision`.
        refs: Full ref name -> object id, of at least those of `candidate_refs(revision)` that exist.
        object_format: Of the repository.
        head: The ref that HEAD points to, where it points to one.
        abbreviated: Full ids of the commits (and tags of commits) that begin with `revision`; local repositories only.
        remote: Whether abbreviations cannot be looked up.

    Raises:
        AmbiguousRevisionError: More than one meaning; lists them all with their ids.
        UnknownRevisionError: No meaning.
    """
    found = [Resolution(name, refs[name]) for name in candidate_refs(revision) if name in refs]
    if is_full_id(revision, object_format):
        found.append(Resolution(None, revision.lower()))
    elif is_abbreviation(revision, object_format):
        found += [Resolution(None, full) for full in sorted(set(abbreviated))]
    if len(found) == 1:
        only = found[0]
        return Resolution(head or "HEAD", only.object_id) if only.ref == "HEAD" else only
    if found:
        listed = ", ".join(f"{each.ref or 'object'} ({each.object_id})" for each in found)
        raise AmbiguousRevisionError(
            f"the revision `{revision}` is ambiguous",
            expected="one meaning",
            got=listed,
            hint="give a full ref name (refs/heads/..., refs/tags/...) or a full commit id that is no ref's name",
        )
    if remote and is_abbreviation(revision, object_format):
        raise UnknownRevisionError(
            f"`{revision}` is no branch and no tag; abbreviated ids work in local repositories only",
            hint="give the commit's full id",
        )
    raise UnknownRevisionError(f"no commit, branch or tag `{revision}`")
