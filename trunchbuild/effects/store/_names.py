"""Find a release in the store by what a person types."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.manifest import Manifest
from trunchbuild.core.release import release_name, release_version, shown
from trunchbuild.effects.store.api import ReleaseFiles, UnknownReleaseError

_PREFIX = re.compile(r"(?:sha256:)?([0-9a-f]{8,64})\Z")
_SHOWN = re.compile(r".+-([0-9a-f]{12})\Z")
_MOST_CANDIDATES = 10


def resolve(text: str, releases: Sequence[ReleaseId], opened: Callable[[ReleaseId], ReleaseFiles | None]) -> ReleaseId:
    """The one release that `text` names; `opened` gives None for a damaged one.

    Raises:
        UnknownReleaseError: None, or several; they are listed.
    """
    prefix = _PREFIX.match(text)
    if prefix:
        return _only(text, [release for release in releases if release.hex.startswith(prefix[1])], releases, opened)
    tail = _SHOWN.match(text)
    if tail:
        found = [release for release in releases if release.hex.startswith(tail[1]) and _shown(release, opened) == text]
        return _only(text, found, releases, opened)
    name, at, version = text.rpartition("@")
    if at:
        found = [release for release in releases if _is_version(opened(release), name, version)]
        return _only(text, found, releases, opened)
    raise UnknownReleaseError(
        "not a release",
        expected="an id, at least 8 of its hex digits, name@version, a lockfile or a release folder",
        got=f"`{text}`",
        hint=_candidates(releases, opened),
    )


def _only(
    text: str,
    found: Sequence[ReleaseId],
    releases: Sequence[ReleaseId],
    opened: Callable[[ReleaseId], ReleaseFiles | None],
) -> ReleaseId:
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{_shown(release, opened)} ({release})" for release in found[:_MOST_CANDIDATES])
        raise UnknownReleaseError("more than one release has this name", expected=f"one of {names}", got=f"`{text}`")
    raise UnknownReleaseError("the store has no such release", got=f"`{text}`", hint=_candidates(releases, opened))


def _candidates(releases: Sequence[ReleaseId], opened: Callable[[ReleaseId], ReleaseFiles | None]) -> str:
    if not releases:
        return "the store is empty: `trunchbuild compile REPO@REV` makes a release"
    names = ", ".join(_shown(release, opened) for release in releases[:_MOST_CANDIDATES])
    more = len(releases) - _MOST_CANDIDATES
    return f"the store holds {names}" + (f" and {more} more" if more > 0 else "")


def _shown(release: ReleaseId, opened: Callable[[ReleaseId], ReleaseFiles | None]) -> str:
    files = opened(release)
    return f"{release.short} (damaged)" if files is None else shown(files.manifest, release)


def _is_version(files: ReleaseFiles | None, name: str, version: str) -> bool:
    if files is None:
        return False
    manifest: Manifest = files.manifest
    return release_name(manifest) == name and version in (manifest.benchmark.version, release_version(manifest))
