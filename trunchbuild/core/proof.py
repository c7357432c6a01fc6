"""A proof that one line belongs to a release: the line, its audit path, and where the root stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.checks import CheckResult, judged, left_open
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.manifest import CASES, PRIVATE, Manifest
from trunchbuild.core.merkle import root_from_path
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError, Fault

PROOF_TYPE = "trunchbuild.proof/v1"

PROOF_CHECKS: Mapping[int, str] = {
    1: "the manifest is the one of the release that the proof names",
    2: "the manifest lists the proof's file with as many lines",
    3: "line and audit path lead to the Merkle root in the manifest",
}

_HEX64 = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Proof:
    """One line of a release's JSONL file with its audit path (RFC 6962, section 2.1.1)."""

    release: ReleaseId
    file: str
    index: int
    """From 0."""
    lines: int
    """All lines of the file."""
    line: bytes
    """Without LF."""
    path: tuple[str, ...]
    """Bare hex, from the leaf's sibling up."""

    def json(self) -> JsonObject:
        """The proof as JSON."""
        return {
            "type": PROOF_TYPE,
            "release": str(self.release),
            "file": self.file,
            "index": self.index,
            "lines": self.lines,
            "line": self.line.decode("utf-8"),
            "path": list(self.path),
        }

    def canonical_bytes(self) -> bytes:
        """The file's bytes: RFC 8785 and LF."""
        return canonical_bytes(self.json()) + b"\n"


def read_proof(data: bytes, place: str) -> Proof:
    """Read a proof strictly; white space does not matter here, since nothing hashes the proof itself.

    Raises:
        BadInputError: It does not follow `schemas/proof.schema.json`.
    """
    fields = Fields(read_json(data, place), place)
    fields.literal("type", PROOF_TYPE)
    proof = Proof(
        release=Digest.parse(fields.text("release")),
        file=fields.text("file"),
        index=fields.integer("index"),
        lines=fields.integer("lines", 1),
        line=fields.text("line").encode("utf-8"),
        path=fields.texts("path"),
    )
    fields.end()
    if proof.file not in (CASES, PRIVATE):
        raise fields.wrong("file", f"`{CASES}` or `{PRIVATE}`", ascii(proof.file))
    if not all(_HEX64.match(step) for step in proof.path):
        raise fields.wrong("path", "hashes of 64 lower-case hex digits", "something else")
    return proof


def check_proof(proof: Proof, manifest: Manifest | None, digest: ReleaseId | None) -> tuple[CheckResult, ...]:
    """Check a proof against the manifest that is at hand, with that manifest's own digest.

    Without a manifest all checks stay open.
    """
    if manifest is None or digest is None:
        note = f"the manifest of {proof.release} is not here: name it with --manifest FILE, or import the release"
        return tuple(left_open(number, name, note) for number, name in PROOF_CHECKS.items())
    named = [] if digest == proof.release else [Fault("release", "another release", str(digest), str(proof.release))]
    try:
        entry = manifest.file(proof.file)
    except BadInputError as error:
        return (
            judged(1, PROOF_CHECKS[1], named, expected=str(proof.release), got=str(digest)),
            judged(2, PROOF_CHECKS[2], error.faults),
            left_open(3, PROOF_CHECKS[3], "the manifest has no root for this file"),
        )
    counted = (
        [] if entry.lines == proof.lines else [Fault(proof.file, "line count", str(entry.lines), str(proof.lines))]
    )
    root = root_from_path(proof.line, proof.index, proof.lines, proof.path)
    led = [] if root == entry.merkle_root else [Fault(f"{proof.file}:{proof.index + 1}", "Merkle root")]
    return (
        judged(1, PROOF_CHECKS[1], named, expected=str(proof.release), got=str(digest)),
        judged(2, PROOF_CHECKS[2], counted, expected=f"{entry.lines} lines", got=f"{proof.lines} lines"),
        judged(3, PROOF_CHECKS[3], led, expected=entry.merkle_root, got=root or "a path that fits no such line"),
    )
