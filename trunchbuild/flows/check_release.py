"""Checks (1) to (6) of a release, on bytes that nobody vouches for. All run; none trusts another's yes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from trunchbuild.core.checks import RELEASE_CHECKS, CheckResult, judged, left_open
from trunchbuild.core.grading import KINDS
from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.line_checks import LineFindings, check_lines, ungradable
from trunchbuild.core.lock_check import lock_faults
from trunchbuild.core.lockfile import Lockfile
from trunchbuild.core.manifest import CASES, MANIFEST, PRIVATE, PROVENANCE, Manifest, ReleaseFile
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.merkle import MerkleTree
from trunchbuild.core.provenance import Provenance, read_provenance
from trunchbuild.core.release import cases_digest, release_digest
from trunchbuild.effects.store.api import RawFiles
from trunchbuild.errors import BadInputError, Fault, MachineError

_MAX_SMALL_FILE = 64 * 1024 * 1024
_MOST_SURPLUS = 256 * 1024 * 1024
"""So much more than listed is still read, for its digest; no one waits for a file without end."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A digest that somebody states for the release, and who."""

    digest: ReleaseId
    by: str


@dataclass(frozen=True, slots=True)
class LockClaim:
    """A lockfile as it was read: a lock, or what is wrong with it."""

    place: str
    lock: Lockfile | None
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """One file as it is."""

    bytes: int
    sha256: str
    lines: int | None = None
    merkle_root: str | None = None
    """Of a JSONL file."""


@dataclass(slots=True)
class ReleaseFindings:
    """What checking found out; later checks and reports build on it."""

    digest: ReleaseId | None = None
    manifest: Manifest | None = None
    provenance: Provenance | None = None
    measured: Mapping[str, Measured] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Files that the system does not let us read, and why: that says nothing about them."""
    lines: LineFindings | None = None
    cases_sha256: str | None = None
    """None where the private part is withheld or the lines cannot be read."""
    withheld: bool = False


def check_release(
    raw: RawFiles, claims: Sequence[Claim], lock: LockClaim | None
) -> tuple[list[CheckResult], ReleaseFindings]:
    """Run checks (1) to (4) and (6), and (5) where a lockfile is given."""
    found = ReleaseFindings()
    checks = [_check_manifest(raw, claims, found)]
    if found.manifest is None:
        note = "the manifest cannot be read"
        checks += [left_open(number, RELEASE_CHECKS[number], note) for number in (2, 3, 4)]
        if lock is not None:
            checks.append(judged(5, RELEASE_CHECKS[5], lock.faults) if lock.faults else _open_lock(note))
        checks.append(left_open(6, RELEASE_CHECKS[6], note))
        return checks, found
    checks += [_check_files(raw, found.manifest, found), _check_roots(found.manifest, found)]
    checks.append(_check_lines(raw, found.manifest, found))
    if lock is not None:
        checks.append(_check_lock(lock, found.manifest, found))
    checks.append(judged(6, RELEASE_CHECKS[6], ungradable(found.manifest, lambda kind: KINDS.get(kind, ()))))
    return checks, found


def _check_manifest(raw: RawFiles, claims: Sequence[Claim], found: ReleaseFindings) -> CheckResult:
    faults: list[Fault] = []
    try:
        data = _read(raw, MANIFEST)
    except MachineError as error:
        return left_open(1, RELEASE_CHECKS[1], str(error))
    except BadInputError as error:
        return judged(1, RELEASE_CHECKS[1], error.faults)
    found.digest = release_digest(data)
    try:
        found.manifest = read_manifest(data)
    except BadInputError as error:
        faults += error.faults
    with suppress(MachineError):
        found.provenance, _ = _read_provenance(raw)
    for claim in claims:
        if claim.digest != found.digest:
            faults.append(Fault(f"digest claimed by {claim.by}", "differs", str(claim.digest), str(found.digest)))
    record = found.provenance
    if record is not None and record.release != found.digest:
        faults.append(Fault(PROVENANCE, "belongs to another release", str(found.digest), str(record.release)))
    if claims:
        note = None
    elif record is not None and not faults:
        note = f"nobody claimed this digest but {PROVENANCE} beside it, which anyone could have written"
    else:
        note = "nobody claimed a digest"
    expected = str(claims[0].digest) if claims else None
    return judged(1, RELEASE_CHECKS[1], faults, expected=expected, got=str(found.digest), note=note)


def _check_files(raw: RawFiles, manifest: Manifest, found: ReleaseFindings) -> CheckResult:
    faults: list[Fault] = []
    measured: dict[str, Measured] = {}
    unreadable: dict[str, str] = {}
    present = set(raw.names())
    found.withheld = PRIVATE not in present
    for entry in manifest.files:
        if entry.path not in present:
            if entry.path != PRIVATE:
                faults.append(Fault(entry.path, "missing", f"{entry.bytes} bytes", "no file"))
            continue
        try:
            measured[entry.path] = _measure(raw, entry)
        except MachineError as error:
            unreadable[entry.path] = str(error)
            continue
        except BadInputError as error:
            faults += error.faults
            continue
        got = measured[entry.path]
        if got.bytes != entry.bytes:
            faults.append(Fault(entry.path, "size", f"{entry.bytes} bytes", f"{got.bytes} bytes"))
        elif got.sha256 != entry.sha256:
            faults.append(Fault(entry.path, "SHA-256", entry.sha256, got.sha256))
    listed = {MANIFEST, PROVENANCE, *(entry.path for entry in manifest.files)}
    faults += [Fault(name, "not listed in the manifest", "no such file", "a file") for name in sorted(present - listed)]
    faults += [Fault(name, "not a regular file", "no such entry", "a link or device") for name in raw.odd()]
    try:
        faults += _read_provenance(raw)[1]
    except MachineError as error:
        unreadable[PROVENANCE] = str(error)
    found.measured, found.unreadable = measured, unreadable
    if unreadable and not faults:
        return left_open(2, RELEASE_CHECKS[2], "; ".join(unreadable.values()))
    note = "the private part is withheld: what it holds was not checked" if found.withheld else None
    whole = f"{len(measured)} files as listed"
    return judged(2, RELEASE_CHECKS[2], faults, got=None if faults else whole, note=note)


def _check_roots(manifest: Manifest, found: ReleaseFindings) -> CheckResult:
    faults: list[Fault] = []
    for path in (CASES, PRIVATE):
        entry, got = manifest.file(path), found.measured.get(path)
        if path in found.unreadable:
            return left_open(3, RELEASE_CHECKS[3], found.unreadable[path])
        if got is None:
            if path == CASES:
                faults.append(Fault(path, "missing, or not measured: see (2)", f"{entry.lines} lines", "none"))
            continue
        if got.lines != entry.lines:
            faults.append(Fault(path, "line count", str(entry.lines), str(got.lines)))
        if got.merkle_root != entry.merkle_root:
            faults.append(Fault(path, "Merkle root", entry.merkle_root, got.merkle_root))
    return judged(3, RELEASE_CHECKS[3], faults)


def _check_lines(raw: RawFiles, manifest: Manifest, found: ReleaseFindings) -> CheckResult:
    if CASES not in found.measured:
        return left_open(4, RELEASE_CHECKS[4], f"{CASES} cannot be read")
    if PRIVATE in found.unreadable:
        return left_open(4, RELEASE_CHECKS[4], found.unreadable[PRIVATE])
    try:
        public = raw_lines(raw, CASES)
        private = None if found.withheld or PRIVATE not in found.measured else raw_lines(raw, PRIVATE)
        lines = check_lines(manifest, public, private)
    except BadInputError as error:
        return judged(4, RELEASE_CHECKS[4], error.faults)
    found.lines = lines
    if lines.digests is not None:
        found.cases_sha256 = cases_digest(manifest, lines.digests).hex
    return judged(4, RELEASE_CHECKS[4], lines.faults, got=None if lines.faults else f"{manifest.case_count} cases")


def _check_lock(claim: LockClaim, manifest: Manifest, found: ReleaseFindings) -> CheckResult:
    if claim.lock is None or found.digest is None:
        return judged(5, RELEASE_CHECKS[5], claim.faults)
    sealed = None if found.lines is None else found.lines.sealed
    faults = lock_faults(claim.lock, claim.place, manifest, found.digest, found.cases_sha256, sealed=sealed)
    return judged(5, RELEASE_CHECKS[5], [*claim.faults, *faults])


def _open_lock(note: str) -> CheckResult:
    return left_open(5, RELEASE_CHECKS[5], note)


def raw_lines(raw: RawFiles, path: str) -> Iterator[bytes]:
    """The lines of a file without LF, unchecked."""
    for line in raw.lines(path):
        yield line.removesuffix(b"\n")


def _read(raw: RawFiles, path: str) -> bytes:
    with raw.open(path) as file:
        data = file.read(_MAX_SMALL_FILE + 1)
    if len(data) > _MAX_SMALL_FILE:
        raise BadInputError("too large", place=path, expected=f"at most {_MAX_SMALL_FILE} bytes", got="more")
    return data


def _read_provenance(raw: RawFiles) -> tuple[Provenance | None, list[Fault]]:
    if PROVENANCE not in raw.names():
        return None, []
    try:
        return read_provenance(_read(raw, PROVENANCE)), []
    except BadInputError as error:
        return None, list(error.faults)


def _blocks(raw: RawFiles, path: str) -> Iterator[bytes]:
    with raw.open(path) as file:
        while block := file.read(1 << 20):
            yield block


def _measure(raw: RawFiles, entry: ReleaseFile) -> Measured:
    """Read a file once; of a JSONL file also count and hash its lines."""
    digest, size = hashlib.sha256(), 0
    tree = MerkleTree() if entry.merkle_root is not None else None
    torn = False
    for block in raw.lines(entry.path) if tree is not None else _blocks(raw, entry.path):
        digest.update(block)
        size += len(block)
        if size > entry.bytes + _MOST_SURPLUS:
            raise BadInputError("size", place=entry.path, expected=f"{entry.bytes} bytes", got=f"{size} bytes or more")
        if tree is not None:
            torn = not block.endswith(b"\n")
            tree.add(block.removesuffix(b"\n"))
    if tree is None:
        return Measured(size, digest.hexdigest())
    # A last line without LF is no line of this format; its root must not pass for that of a whole file.
    return Measured(size, digest.hexdigest(), len(tree) - torn, "a last line without LF" if torn else tree.root())
