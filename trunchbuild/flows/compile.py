"""Build a release from a commit and lock it; or, locked, build it again and compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from trunchbuild.core.commit_signature import Signature
from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.lock_check import lock_changes
from trunchbuild.core.lockfile import LockConflictError, Lockfile, LockFormatError, make_lock, parse_lock
from trunchbuild.core.provenance import Provenance
from trunchbuild.core.release import shown
from trunchbuild.core.release_diff import ReleaseDiff
from trunchbuild.effects.clock.api import Clock
from trunchbuild.effects.files.api import Files, NewFile
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError, ExitCode, Fault, TrunchbuildError
from trunchbuild.flows.build import write_provenance
from trunchbuild.flows.diff import diff_releases
from trunchbuild.flows.find_release import is_stored
from trunchbuild.flows.from_commit import BuildOrder, BuildTools, MadeRelease, release_from_commit
from trunchbuild.flows.signature import SignatureOrder

Status = Literal["compiled", "unchanged", "updated", "locked", "differs"]


@dataclass(frozen=True, slots=True)
class CompileOrder:
    """What `compile` was asked for."""

    build: BuildOrder
    lock_folder: Path
    origin: str | None = None
    """Where a repository that is compiled from a local path can be found, as `recorded_url` gives it."""
    locked: bool = False
    """Compare with the lock; write nothing."""
    update: bool = False
    """Accept another digest than the lock's."""


@dataclass(frozen=True, slots=True)
class CompileTools:
    """The doors that compiling needs."""

    build: BuildTools
    files: Files
    clock: Clock
    sandbox: Callable[[], str]
    """How the author's code was confined; asked after the build, since looking may start something."""
    version: str
    """Of trunchbuild itself."""


@dataclass(frozen=True, slots=True)
class CompileOutcome:
    """How it ended."""

    status: Status
    release: ReleaseId
    shown: str
    cases: int
    cases_sha256: str
    lockfile: Path
    locked_release: ReleaseId | None
    """What the lock said before."""
    signature: Signature
    """Of the commit."""
    changes: tuple[Fault, ...] = ()
    """What the lock says differently."""
    difference: ReleaseDiff | None = None
    """Case by case, where both releases are at hand."""
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """0, or 1 where lock and release differ."""
        return ExitCode.NO if self.status == "differs" else ExitCode.YES

    def json(self) -> JsonObject:
        """The outcome for `--json`."""
        changes: list[Json] = [
            {"place": fault.place, "expected": fault.expected, "got": fault.got} for fault in self.changes
        ]
        return {
            "status": self.status,
            "release": str(self.release),
            "shown": self.shown,
            "cases": self.cases,
            "casesSha256": self.cases_sha256,
            "lockfile": str(self.lockfile),
            "signature": self.signature.json(),
            "lockedRelease": None if self.locked_release is None else str(self.locked_release),
            "changes": changes,
            "difference": None if self.difference is None else self.difference.json(),
            "warnings": list(self.warnings),
        }


def compile_release(order: CompileOrder, tools: CompileTools) -> CompileOutcome:
    """Build, compare with the lock, then keep release and lock; or say what differs and keep nothing.

    Raises:
        TrunchbuildError: Whatever pinning, loading or freezing refuses; with `locked`, a missing or broken lock.
    """
    with ExitStack() as stack:
        made = stack.enter_context(release_from_commit(order.build, tools.build, keep=not order.locked))
        if not order.locked:
            # Of two that compile at once the second sees what the first has locked.
            stack.enter_context(tools.files.alone_in(order.lock_folder))
        return _settled(order, made, tools)


def _settled(order: CompileOrder, made: MadeRelease, tools: CompileTools) -> CompileOutcome:
    """Compare what was built with the lock, and keep or refuse it."""
    lock = _lock_of(order, made, toolchain(tools))
    path = order.lock_folder / lock.file_name
    old = _old_lock(path, order, tools.files)
    if old is not None and lock.source.url is None:
        # A stated origin stands until another is stated.
        lock = replace(lock, source=replace(lock.source, url=old.source.url))
    changes = () if old is None else tuple(_meaningful_changes(str(path), order, old, lock))
    outcome = CompileOutcome(
        status="locked" if order.locked else "compiled" if old is None else "updated",
        release=lock.digest,
        shown=shown(made.built.manifest, lock.digest),
        cases=lock.case_count,
        cases_sha256=lock.cases_sha256,
        lockfile=path,
        locked_release=None if old is None else old.digest,
        signature=made.signature,
        changes=changes,
        warnings=made.warnings,
    )
    if old is not None and changes and (order.locked or not order.update):
        return replace(outcome, status="differs", difference=_difference(order, old, made, tools))
    if order.locked:
        return outcome
    if old is not None and old.sealed and not lock.sealed:
        warning = "the release in the lockfile was sealed and this one is not: who gets it can guess its answers"
        outcome = replace(outcome, warnings=(*outcome.warnings, warning))
    _keep(order, made, lock, tools)
    if old is not None and not changes and not order.update:
        return replace(outcome, status="unchanged")
    tools.files.replace([NewFile(path, [lock.toml()])])
    return outcome


def toolchain(tools: CompileTools) -> Mapping[str, str]:
    """Versions of what builds here, by name."""
    return {"trunchbuild": tools.version, **tools.build.runtime.versions().versions}


def _lock_of(order: CompileOrder, made: MadeRelease, versions: Mapping[str, str]) -> Lockfile:
    return make_lock(
        made.built.manifest,
        made.built.digest,
        made.built.cases_sha256.hex,
        sealed=order.build.seal_key is not None,
        requested=made.pin.requested,
        url=order.origin or made.pin.url,
        resolved_ref=made.pin.resolved_ref,
        toolchain=versions,
    )


def _old_lock(path: Path, order: CompileOrder, files: Files) -> Lockfile | None:
    """The lock that stands there; with `--update` a broken one counts as none."""
    if not files.exists(path):
        if order.locked:
            raise BadInputError(
                "no such lockfile",
                place=str(path),
                hint="`trunchbuild compile` without --locked writes it; --out names its folder",
            )
        return None
    try:
        return parse_lock(files.read(path), str(path))
    except (LockFormatError, LockConflictError):
        if order.update and not order.locked:
            return None
        raise


def _meaningful_changes(place: str, order: CompileOrder, old: Lockfile, new: Lockfile) -> list[Fault]:
    """What the release changes in the lock; how the commit was asked for is no change of the release.

    An origin that is stated is meant to stand there.
    """
    asked = replace(
        new.source,
        requested=old.source.requested,
        resolved_ref=old.source.resolved_ref,
        url=order.origin or old.source.url,
    )
    return lock_changes(place, old, replace(new, source=asked))


def _keep(order: CompileOrder, made: MadeRelease, lock: Lockfile, tools: CompileTools) -> None:
    record = Provenance(
        release=made.built.digest,
        built=tools.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        requested=made.pin.requested,
        sealed=lock.sealed,
        url=order.origin or made.pin.url,
        resolved_ref=made.pin.resolved_ref,
        sandbox=tools.sandbox(),
        signature=made.signature,
        versions=lock.toolchain,
    )
    write_provenance(made.stage, record)
    made.stage.keep()


def _difference(order: CompileOrder, old: Lockfile, made: MadeRelease, tools: CompileTools) -> ReleaseDiff | None:
    """Case by case, if the locked release is in the store or its commit can still be built; else None."""
    with ExitStack() as stack:
        before = _locked_files(order, old, made, tools, stack)
        return None if before is None else diff_releases(before, made.stage.files())


def _locked_files(
    order: CompileOrder, old: Lockfile, made: MadeRelease, tools: CompileTools, stack: ExitStack
) -> ReleaseFiles | None:
    if old.digest == made.built.digest:
        return None
    try:
        if is_stored(old.digest, tools.build.store):
            return tools.build.store.open(old.digest)
        if old.source.commit == made.pin.commit and old.source.config == made.built.manifest.source.config:
            return None
        build = replace(
            order.build,
            revision=old.source.commit,
            config=old.source.config,
            strict=False,
            signature=SignatureOrder(order.build.signature.signers),
        )
        again = stack.enter_context(release_from_commit(build, tools.build, keep=False))
        return again.stage.files() if again.built.digest == old.digest else None
    except TrunchbuildError:
        # The comparison is a courtesy: the answer, that the digests differ, stands without it.
        return None
