"""What a release is, for people and programs; and one case of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trunchbuild.core.commit_signature import Signature
from trunchbuild.core.ids import CaseId, ReleaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.manifest import CASES, PROVENANCE, Manifest
from trunchbuild.core.provenance import Provenance, read_provenance
from trunchbuild.core.release import case_digest, cases_digest, release_name, shown
from trunchbuild.core.strict_json import read_json
from trunchbuild.effects.store.api import DamagedReleaseError, ReleaseFiles, Store, StoreError
from trunchbuild.errors import BadInputError
from trunchbuild.flows.diff import case_pairs
from trunchbuild.flows.prove import find_case, private_line


@dataclass(frozen=True, slots=True)
class ReleaseSummary:
    """One release in a few values."""

    release: ReleaseId
    manifest: Manifest
    cases_sha256: str | None
    """None where the private part is withheld, or where nobody asked for it: it takes reading every case."""
    private: bool
    """Whether the private part is here."""
    signature: Signature | None = None
    """Of the commit, as the builder found it; None where the provenance does not say, or nobody asked for it."""
    sandbox: str | None = None
    """What the repository's code ran in, by the same word."""

    @property
    def shown(self) -> str:
        """`<name>-<version>-<12 hex>`."""
        return shown(self.manifest, self.release)

    def json(self) -> JsonObject:
        """The summary with the manifest's own values."""
        manifest = self.manifest.json()
        return {
            "release": str(self.release),
            "shown": self.shown,
            "name": release_name(self.manifest),
            "version": self.manifest.benchmark.version,
            "cases": self.manifest.case_count,
            "casesSha256": self.cases_sha256,
            "private": self.private,
            "signature": None if self.signature is None else self.signature.json(),
            "sandbox": self.sandbox,
            "benchmark": manifest["benchmark"],
            "source": manifest["source"],
            "evals": manifest["evals"],
            "files": manifest["files"],
        }


def summarize(files: ReleaseFiles) -> ReleaseSummary:
    """Read a whole release and summarize it.

    Raises:
        DamagedReleaseError: It is not what its manifest says.
    """
    cases = None
    if files.has_private():
        digests = (case_digest(public, private) for public, private in case_pairs(files) if private is not None)
        cases = cases_digest(files.manifest, digests).hex
    record = _provenance(files)
    said = (None, None) if record is None else (record.signature, record.sandbox)
    return ReleaseSummary(files.digest, files.manifest, cases, files.has_private(), *said)


def _provenance(files: ReleaseFiles) -> Provenance | None:
    """What the provenance says; `verify` says what is wrong with a broken one."""
    if PROVENANCE not in files.names():
        return None
    with files.raw.open(PROVENANCE) as file:
        try:
            return read_provenance(file.read())
        except BadInputError:
            return None


def list_releases(store: Store) -> tuple[list[ReleaseSummary], list[ReleaseId]]:
    """Every release of the store, sorted by name, version and digest; and those whose manifest cannot be read."""
    summaries: list[ReleaseSummary] = []
    damaged: list[ReleaseId] = []
    for release in store.releases():
        try:
            files = store.open(release)
        except (BadInputError, DamagedReleaseError, StoreError):
            damaged.append(release)
        else:
            summaries.append(ReleaseSummary(release, files.manifest, None, files.has_private()))
    summaries.sort(key=lambda one: (release_name(one.manifest), one.manifest.benchmark.version, one.release))
    return summaries, damaged


def case_ids(files: ReleaseFiles) -> Iterator[CaseId]:
    """Every case's id, in order."""
    for line in files.lines(CASES):
        value = read_json(line, CASES)
        if isinstance(value, Mapping):
            yield CaseId(str(value.get("eval")), str(value.get("id")))


def show_case(files: ReleaseFiles, case: CaseId, *, private: bool) -> JsonObject:
    """One case: its public part; with `private` also how it is graded.

    Raises:
        BadInputError: The release has no such case, or its private part is withheld.
    """
    index, line = find_case(files, case)
    value: dict[str, Json] = {"release": str(files.digest), "index": index, "public": read_json(line, CASES)}
    if files.has_private():
        secret = private_line(files, index)
        value["caseDigest"] = str(case_digest(line, secret))
        if private:
            value["private"] = read_json(secret, "private.jsonl")
    elif private:
        private_line(files, index)
    return value
