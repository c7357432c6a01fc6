"""`provenance.json`: who built a release with what and when. Beside the manifest, outside its digest.

It proves nothing: whoever edits it can write its digest anew. Its own `sha256` finds accidents, and its `release` tells
which manifest it was written for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trunchbuild.core.canonical import canonical_bytes, digest_of
from trunchbuild.core.commit_signature import Signature, read_signature
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.manifest import PROVENANCE
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError

PROVENANCE_TYPE = "trunchbuild.provenance/v1"


@dataclass(frozen=True, slots=True)
class Provenance:
    """One build."""

    release: ReleaseId
    built: str
    """UTC, RFC 3339 to the second."""
    requested: str
    """The revision as it was typed."""
    sealed: bool = False
    url: str | None = None
    """None for a local repository."""
    resolved_ref: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    """trunchbuild, and what ran the author's code: Node, V8, ICU, Python ..."""
    sandbox: str | None = None
    """How the author's code was confined."""
    signature: Signature | None = None
    """What the builder found about the commit's signature; None where nobody looked."""

    def json(self) -> JsonObject:
        """The record with its own digest."""
        value: dict[str, Json] = {
            "type": PROVENANCE_TYPE,
            "release": str(self.release),
            "built": self.built,
            "requested": self.requested,
            "sealed": self.sealed,
            "versions": dict(self.versions),
        }
        if self.url is not None:
            value["url"] = self.url
        if self.resolved_ref is not None:
            value["resolvedRef"] = self.resolved_ref
        if self.sandbox is not None:
            value["sandbox"] = self.sandbox
        if self.signature is not None:
            value["signature"] = self.signature.json()
        return {**value, "sha256": digest_of(value).hex}

    def canonical_bytes(self) -> bytes:
        """RFC 8785 bytes."""
        return canonical_bytes(self.json())


def read_provenance(data: bytes, place: str = PROVENANCE) -> Provenance:
    """Read the record strictly.

    Raises:
        BadInputError: It does not follow `schemas/provenance.schema.json`, or its own digest does not fit it.
    """
    fields = Fields(read_json(data, place), place)
    fields.literal("type", PROVENANCE_TYPE)
    versions = Fields(fields.take("versions"), fields.place("versions"))
    record = Provenance(
        release=Digest.parse(fields.text("release")),
        built=fields.text("built"),
        requested=fields.text("requested"),
        sealed=fields.boolean("sealed"),
        url=fields.optional("url", fields.text),
        resolved_ref=fields.optional("resolvedRef", fields.text),
        sandbox=fields.optional("sandbox", fields.text),
        signature=fields.optional("signature", lambda name: read_signature(fields.take(name), fields.place(name))),
        versions={name: versions.text(name) for name in sorted(versions.names())},
    )
    stated = fields.text("sha256")
    fields.end()
    expected = record.json()["sha256"]
    if stated != expected or record.canonical_bytes() != data:
        raise BadInputError("the record was altered", place=f"{place}/sha256", expected=str(expected), got=stated)
    return record
