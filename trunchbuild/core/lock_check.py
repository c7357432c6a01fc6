"""Compare a lockfile with the release that it names, value by value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.json_types import Json
from trunchbuild.core.lockfile import Lockfile, make_lock
from trunchbuild.core.manifest import Manifest
from trunchbuild.errors import Fault


def lock_faults(
    lock: Lockfile, place: str, manifest: Manifest, digest: ReleaseId, cases_sha256: str | None, *, sealed: bool | None
) -> list[Fault]:
    """Every value of the lock that the release contradicts.

    `cases_sha256` and `sealed` are None where the private part is withheld: then the lock's own values stand.
    """
    expected = make_lock(
        manifest,
        digest,
        lock.cases_sha256 if cases_sha256 is None else cases_sha256,
        sealed=lock.sealed if sealed is None else sealed,
        requested=lock.source.requested,
        url=lock.source.url,
        resolved_ref=lock.source.resolved_ref,
        toolchain=lock.toolchain,
    )
    return list(_differences(place, expected.tables(), lock.tables()))


def lock_changes(place: str, old: Lockfile, new: Lockfile) -> list[Fault]:
    """What a new lock says differently, without the informative toolchain."""
    return [
        fault
        for fault in _differences(place, old.tables(), new.tables())
        if not fault.place.startswith(f"{place} toolchain") and not fault.place.endswith("table-sha256")
    ]


def _differences(place: str, expected: Json, got: Json, where: str = "") -> Iterator[Fault]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for name in [*expected, *(name for name in got if name not in expected)]:
            inner = f"{where}.{name}" if where else name
            yield from _differences(place, expected.get(name), got.get(name), inner)
    elif expected != got:
        yield Fault(f"{place} {where}", "differs", _shown(expected), _shown(got))


def _shown(value: Json) -> str:
    return "nothing" if value is None else "a table" if isinstance(value, Mapping) else str(value)
