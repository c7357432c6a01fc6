"""Compare two releases case by case."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat, zip_longest

from trunchbuild.core.manifest import CASES, PRIVATE
from trunchbuild.core.release_diff import CasePair, ReleaseDiff, Side, compare
from trunchbuild.effects.store.api import DamagedReleaseError, ReleaseFiles


def diff_releases(old: ReleaseFiles, new: ReleaseFiles) -> ReleaseDiff:
    """What differs between two releases.

    Raises:
        DamagedReleaseError: One of them is not what its manifest says.
    """
    return compare(side_of(old), side_of(new))


def side_of(files: ReleaseFiles) -> Side:
    """A release as one side of a comparison."""
    return Side(files.manifest, lambda: case_pairs(files))


def case_pairs(files: ReleaseFiles) -> Iterator[CasePair]:
    """Public and private lines side by side, streamed; private ones are None where that part is withheld.

    Raises:
        DamagedReleaseError: A file's bytes are not those that the manifest lists, or the lines do not pair up.
    """
    if not files.has_private():
        yield from zip(files.lines(CASES), repeat(None))
        return
    for public, private in zip_longest(files.lines(CASES), files.lines(PRIVATE)):
        if public is None or private is None:
            raise DamagedReleaseError(
                "lines that do not pair up", place=files.raw.place, expected=f"as many in {PRIVATE} as in {CASES}"
            )
        yield public, private
