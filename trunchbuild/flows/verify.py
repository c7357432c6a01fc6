"""Verify a release by any of its names, or a proof: all checks, each named, with what was expected and got."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trunchbuild.core.checks import RELEASE_CHECKS, CheckReport, CheckResult, judged, left_open
from trunchbuild.core.confinement import UNCONFINED
from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.lockfile import LockConflictError, Lockfile, parse_lock, parse_toml
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.proof import check_proof, read_proof
from trunchbuild.core.provenance import Provenance
from trunchbuild.core.release import release_digest
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.files.api import Files
from trunchbuild.effects.signatures.api import ANYONE_KNOWN, Signers
from trunchbuild.effects.store.api import RawFiles, Store, UnknownReleaseError
from trunchbuild.errors import BadInputError, UsageError
from trunchbuild.flows.check_release import Claim, LockClaim, ReleaseFindings, check_release
from trunchbuild.flows.find_release import names_folder, names_lockfile

if TYPE_CHECKING:
    # Half of what a build imports is of no use to a verification that rebuilds nothing, and costs it half its time.
    from trunchbuild.flows.check_rebuild import RebuildOrder
    from trunchbuild.flows.from_commit import BuildTools


@dataclass(frozen=True, slots=True)
class VerifyOrder:
    """What `verify` was asked for."""

    text: str
    """A release by any of its names, a lockfile, a folder, or a proof."""
    claimed: ReleaseId | None = None
    """`--digest`."""
    rebuild: bool = False
    repo: RepoAddress | None = None
    insecure_http: bool = False
    seal_key: bytes | None = None
    manifest: Path | None = None
    """For a proof: the manifest, where the store does not hold the release."""
    signers: Signers = ANYONE_KNOWN
    """Whose signatures of the commit count, with `rebuild`."""


@dataclass(frozen=True, slots=True)
class VerifyTools:
    """The doors that verifying needs."""

    files: Files
    store: Store
    build: Callable[[], BuildTools]
    """Called only where something is built again."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is verified, as it was found."""

    name: str
    raw: RawFiles | None
    """None where a lockfile names a release that is not here."""
    claims: tuple[Claim, ...]
    lock: LockClaim | None = None


def verify(order: VerifyOrder, tools: VerifyTools) -> CheckReport:
    """Run every check that belongs to the subject.

    Raises:
        UnknownReleaseError: Nothing has that name.
        LockConflictError: The lockfile holds merge-conflict markers.
        UsageError: An option does not belong to this kind of subject.
    """
    if is_proof(order.text, tools.files):
        return verify_proof(order, tools)
    subject = _subject(order, tools)
    if subject.raw is None:
        return _verify_absent(order, subject, tools)
    return _verify_present(order, subject, subject.raw, tools)


def is_proof(text: str, files: Files) -> bool:
    """Whether an argument means a proof: a file that is no lockfile."""
    path = Path(text)
    return not names_lockfile(text) and files.exists(path) and not files.is_folder(path)


def verify_proof(order: VerifyOrder, tools: VerifyTools) -> CheckReport:
    """Check the proof of one line against its release's manifest."""
    if order.rebuild or order.repo or order.seal_key:
        raise UsageError("a proof is not rebuilt", hint="verify its release with --rebuild")
    proof = read_proof(tools.files.read(Path(order.text)), order.text)
    if order.manifest is not None:
        data: bytes | None = tools.files.read(order.manifest)
    elif proof.release in tools.store.releases():
        data = tools.store.open(proof.release).manifest_bytes
    else:
        data = None
    digest = None if data is None else release_digest(data)
    manifest = None if data is None else read_manifest(data, str(order.manifest or digest))
    checks = check_proof(proof, manifest, digest)
    if order.claimed is not None and order.claimed != proof.release:
        checks = (replace(checks[0], outcome="no", expected=str(order.claimed), got=str(proof.release)), *checks[1:])
    return CheckReport(f"proof {order.text}", str(proof.release), checks)


def _subject(order: VerifyOrder, tools: VerifyTools) -> Subject:
    claims = () if order.claimed is None else (Claim(order.claimed, "--digest"),)
    if names_lockfile(order.text):
        return _locked_subject(order.text, claims, tools)
    if names_folder(order.text, store=tools.store, files=tools.files):
        return Subject(f"folder {order.text}", tools.store.open_folder_raw(Path(order.text)), claims)
    release = tools.store.resolve(order.text)
    claims = (*claims, Claim(release, "its id in the store"))
    return Subject(f"release {release}", tools.store.open_raw(release), claims)


def _locked_subject(place: str, claims: tuple[Claim, ...], tools: VerifyTools) -> Subject:
    data = tools.files.read(Path(place))
    stated = None
    try:
        lock = LockClaim(place, parse_lock(data, place))
        stated = lock.lock.digest if lock.lock else None
    except LockConflictError:
        raise
    except BadInputError as error:
        lock = LockClaim(place, None, error.faults)
        stated = _stated_digest(data, place)
    if stated is None:
        return Subject(f"lockfile {place}", None, claims, lock)
    claims = (*claims, Claim(stated, place))
    try:
        return Subject(f"lockfile {place}", tools.store.open_raw(stated), claims, lock)
    except UnknownReleaseError:
        return Subject(f"lockfile {place}", None, claims, lock)


def _stated_digest(data: bytes, place: str) -> ReleaseId | None:
    """The digest in a lock that is wrong elsewhere."""
    try:
        release = parse_toml(data, place).get("release")
        digest = release.get("digest") if isinstance(release, Mapping) else None
        return Digest.parse(digest) if isinstance(digest, str) else None
    except BadInputError:
        return None


def _verify_present(order: VerifyOrder, subject: Subject, raw: RawFiles, tools: VerifyTools) -> CheckReport:
    checks, found = check_release(raw, subject.claims, subject.lock)
    not_asked = [] if subject.lock is not None else [5]
    if order.rebuild:
        from trunchbuild.flows.check_rebuild import check_rebuild  # noqa: PLC0415 - see above

        checks += check_rebuild(raw, found, _rebuild_order(order, subject, found), tools.build())
    else:
        not_asked += [7, 8]
    notes = () if found.cases_sha256 is None else (f"cases-sha256 {found.cases_sha256}",)
    if found.provenance is not None and found.provenance.sandbox == UNCONFINED:
        notes = (*notes, "built with --unsafe-no-sandbox: by its provenance, the repository's code ran unconfined")
    if found.provenance is not None and (signature := found.provenance.signature) and signature.state != "none":
        notes = (*notes, f"by its provenance, the commit's signature was {signature}")
    digest = None if found.digest is None else str(found.digest)
    return CheckReport(subject.name, digest, tuple(checks), tuple(not_asked), notes)


def _rebuild_order(order: VerifyOrder, subject: Subject, found: ReleaseFindings) -> RebuildOrder:
    """Where the repository is: as asked, else as the lock says, else as the provenance says."""
    from trunchbuild.flows.check_rebuild import RebuildOrder  # noqa: PLC0415 - see above
    from trunchbuild.flows.signature import SignatureOrder  # noqa: PLC0415

    lock = None if subject.lock is None else subject.lock.lock
    record = found.provenance
    recorded = lock.toolchain if lock else record.versions if record else None
    return RebuildOrder(
        address=order.repo or _locked_address(lock) or _recorded_address(record),
        insecure_http=order.insecure_http,
        seal_key=order.seal_key,
        sealed=_sealed(found, lock),
        recorded=recorded,
        signature=SignatureOrder(order.signers),
    )


def _sealed(found: ReleaseFindings, lock: Lockfile | None) -> bool | None:
    """Whether the release carries salts: as its lines show, else as lock or provenance say."""
    if found.lines is not None and found.lines.sealed is not None:
        return found.lines.sealed
    if lock is not None:
        return lock.sealed
    return None if found.provenance is None else found.provenance.sealed


def _locked_address(lock: Lockfile | None) -> RepoAddress | None:
    """The address in a lock, which its user committed; `parse_lock` takes addresses of servers alone."""
    return None if lock is None or lock.source.url is None else RepoAddress.parse(lock.source.url)


def _recorded_address(record: Provenance | None) -> RepoAddress | None:
    """The address in a provenance, which a stranger may have written: only https, which tells the server nothing."""
    if record is None or record.url is None:
        return None
    try:
        address = RepoAddress.parse(record.url)
    except UsageError:
        return None
    return address if address.kind in ("https", "github") else None


def _verify_absent(order: VerifyOrder, subject: Subject, tools: VerifyTools) -> CheckReport:
    """A lockfile whose release is not in the store: with `--rebuild` it is built from its commit and then checked."""
    from trunchbuild.flows.from_commit import BuildOrder, release_from_commit  # noqa: PLC0415 - see above

    assert subject.lock is not None
    lock = subject.lock.lock
    address = order.repo or _locked_address(lock)
    if lock is None or not order.rebuild or address is None:
        return _report_absent(order, subject, address)
    if lock.sealed and order.seal_key is None:
        return _report_absent(order, subject, address, "the release is sealed: rebuilding needs --seal KEYFILE")
    build = BuildOrder(
        address, lock.source.commit, lock.source.config, insecure_http=order.insecure_http, seal_key=order.seal_key
    )
    with release_from_commit(build, tools.build(), keep=False) as made:
        report = _verify_present(order, subject, made.stage.files().raw, tools)
    note = "the store does not hold this release: what was checked is what its commit gives"
    return replace(report, notes=(*report.notes, note))


def _report_absent(
    order: VerifyOrder, subject: Subject, address: RepoAddress | None, reason: str | None = None
) -> CheckReport:
    assert subject.lock is not None
    note = "the store does not hold this release: import it, or build it again: --rebuild --repo REPO"
    if not subject.claims:
        note = "the lockfile states no digest"
    elif order.rebuild and address is None:
        note = "the store does not hold this release, and nothing says where its repository is: name it with --repo"
    note = reason or note
    checks: list[CheckResult] = [left_open(number, RELEASE_CHECKS[number], note) for number in (1, 2, 3, 4)]
    if subject.lock.faults:
        checks.append(judged(5, RELEASE_CHECKS[5], subject.lock.faults))
    else:
        checks.append(left_open(5, RELEASE_CHECKS[5], note))
    checks.append(left_open(6, RELEASE_CHECKS[6], note))
    if order.rebuild:
        checks += [left_open(number, RELEASE_CHECKS[number], note) for number in (7, 8)]
    digest = str(subject.claims[-1].digest) if subject.claims else None
    return CheckReport(subject.name, digest, tuple(checks), () if order.rebuild else (7, 8))
