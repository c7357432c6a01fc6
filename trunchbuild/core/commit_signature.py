"""What a commit's signature is over, and what was found about it. Checking it is a program's business.

The layout of a signed commit is Git's `Documentation/gitformat-signature.txt`: the header `gpgsig` (in a SHA-256
repository `gpgsig-sha256`) holds the signature, and what was signed is the commit without every such header.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Literal, cast, get_args

from trunchbuild.core.fields import Fields
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.revision import ObjectFormat
from trunchbuild.errors import BadInputError

SignatureState = Literal["none", "good", "bad", "unknown-key", "expired", "revoked", "unchecked"]
"""`good`: by a key that is trusted here. `unknown-key`: whole, by a key that nobody here vouches for. `unchecked`: it
could not be checked on this machine."""
SignatureKind = Literal["ssh", "openpgp", "x509", "unknown"]

MAX_SIGNATURE_BYTES = 64 << 10
"""The longest of an RSA-16384 key is under 6 KiB in armour."""
_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""

_OWN_HEADER: dict[ObjectFormat, bytes] = {"sha1": b"gpgsig ", "sha256": b"gpgsig-sha256 "}
_COMMITTER = re.compile(rb"^committer [^\n]*> ([0-9]{1,12}) [+-][0-9]{4}$", re.MULTILINE)
_KINDS: tuple[tuple[bytes, SignatureKind], ...] = (
    (b"-----BEGIN SSH SIGNATURE-----\n", "ssh"),
    (b"-----BEGIN PGP SIGNATURE-----\n", "openpgp"),
    (b"-----BEGIN SIGNED MESSAGE-----\n", "x509"),
)
_NOT_CHECKED: dict[SignatureKind, str] = {
    "x509": "X.509 signatures are not checked here",
    "unknown": "the signature is of no kind that is known here",
}
_PGP_ARMOUR = re.compile(
    rb"-----BEGIN PGP SIGNATURE-----\n(?:[A-Za-z]+: [^\n]*\n)*\n((?:[A-Za-z0-9+/=]+\n)+?)(?:=[A-Za-z0-9+/]{4}\n)?"
    rb"-----END PGP SIGNATURE-----\s*\Z"
)
_SIGNATURE_PACKET = 2


@dataclass(frozen=True, slots=True)
class SignedCommit:
    """A commit's signature and what it is over."""

    payload: bytes
    signature: bytes
    """As the header holds it, in armour."""
    kind: SignatureKind
    committed: int
    """Seconds since 1970, as the committer states them."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What was found about a commit's signature."""

    state: SignatureState
    kind: SignatureKind | None = None
    key: str | None = None
    """The fingerprint as its program prints it: `SHA256:...` of ssh, hex digits of OpenPGP."""
    signer: str | None = None
    """Whom this machine knows by that key."""
    detail: str | None = None
    """Why it is not good, for people."""

    def __str__(self) -> str:
        """One sentence for people."""
        parts = [_WORDS[self.state]]
        if self.signer is not None:
            parts.append(f"of {self.signer}")
        if self.key is not None:
            parts.append(f"by the {self.kind} key {self.key}")
        text = " ".join(parts)
        return f"{text} ({self.detail})" if self.detail else text

    def json(self) -> JsonObject:
        """For `--json` and for provenance; absent values are left out."""
        members: dict[str, Json] = {
            "state": self.state,
            "kind": self.kind,
            "key": self.key,
            "signer": self.signer,
            "detail": self.detail,
        }
        return {name: value for name, value in members.items() if value is not None}


_WORDS: dict[SignatureState, str] = {
    "none": "none",
    "good": "good",
    "bad": "BAD",
    "unknown-key": "by a key that nobody here vouches for:",
    "expired": "expired",
    "revoked": "REVOKED",
    "unchecked": "not checked",
}


def read_signature(value: Json, place: str) -> Signature:
    """Read what `Signature.json` writes.

    Raises:
        BadInputError: A member is unknown, or of another type.
    """
    fields = Fields(value, place)
    state = fields.text("state")
    if state not in get_args(SignatureState):
        raise fields.wrong("state", ", ".join(get_args(SignatureState)), ascii(state[:80]))
    kind = fields.optional("kind", fields.text)
    if kind is not None and kind not in get_args(SignatureKind):
        raise fields.wrong("kind", ", ".join(get_args(SignatureKind)), ascii(kind[:80]))
    found = Signature(
        cast("SignatureState", state),
        cast("SignatureKind | None", kind),
        fields.optional("key", fields.text),
        fields.optional("signer", fields.text),
        fields.optional("detail", fields.text),
    )
    fields.end()
    return found


def signed_commit(raw: bytes, object_format: ObjectFormat) -> SignedCommit | Signature:
    """Divide a commit object; where there is nothing to check, or nothing that could be right, say so at once."""
    signature, payload, count = _divided(raw, _OWN_HEADER[object_format])
    if count == 0:
        return Signature("none")
    kind: SignatureKind = next((kind for begin, kind in _KINDS if signature.startswith(begin)), "unknown")
    committer = _COMMITTER.search(payload.partition(b"\n\n")[0])
    fault = None
    if count > 1:
        fault = "the commit holds more than one signature"
    elif len(signature) > MAX_SIGNATURE_BYTES:
        fault = f"a signature of more than {MAX_SIGNATURE_BYTES:,} bytes"
    elif committer is None or int(committer[1]) > _LAST_SECOND:
        fault = "the commit does not say when it was made"
    if fault is not None or committer is None:
        return Signature("bad", kind, detail=fault)
    if kind in _NOT_CHECKED:
        return Signature("unchecked", kind, detail=_NOT_CHECKED[kind])
    return SignedCommit(payload, signature, kind, int(committer[1]))


def _divided(raw: bytes, own: bytes) -> tuple[bytes, bytes, int]:
    """The signature, the commit without any signature, and how many headers of our kind there were."""
    head, blank, message = raw.partition(b"\n\n")
    signature: list[bytes] = []
    kept: list[bytes] = []
    count, within = 0, ""
    for line in head.split(b"\n"):
        if line.startswith(b" ") and within:
            if within == "own":
                signature.append(line[1:])
        elif line.startswith(own):
            within = "own"
            count += 1
            signature.append(line[len(own) :])
        elif line.startswith(b"gpgsig"):
            within = "other"
        else:
            within = ""
            kept.append(line)
    return b"\n".join(signature) + b"\n", b"\n".join(kept) + blank + message, count


def openpgp_packet(signature: bytes) -> bytes:
    """The one signature packet in an armour (RFC 9580, 4.2 and 6.2); a program is given nothing else to read.

    Raises:
        BadInputError: Something else is in it: more packets, a compressed or a literal one, text around it.
    """
    armour = _PGP_ARMOUR.match(signature)
    try:
        data = base64.b64decode(armour[1].replace(b"\n", b""), validate=True) if armour else b""
    except binascii.Error:
        data = b""
    if not data:
        raise BadInputError("the armour of the signature is damaged")
    tag, start, length = _packet_head(data)
    if tag != _SIGNATURE_PACKET or start + length != len(data):
        raise BadInputError("the armour holds something else than one signature")
    return data


def _packet_head(data: bytes) -> tuple[int, int, int]:
    """Tag, where the body begins, and its length; -1 for a length that is not stated plainly."""
    first, rest = data[0], data[1:6]
    if first & 0xC0 == 0xC0:
        if rest[:1] and rest[0] < 192:
            return first & 0x3F, 2, rest[0]
        if len(rest) >= 2 and rest[0] < 224:
            return first & 0x3F, 3, ((rest[0] - 192) << 8) + rest[1] + 192
        if len(rest) == 5 and rest[0] == 255:
            return first & 0x3F, 6, int.from_bytes(rest[1:])
        return first & 0x3F, 2, -1
    if not first & 0x80 or first & 3 == 3:
        return -1, 1, -1
    width = 1 << (first & 3)
    return (first >> 2) & 0x0F, 1 + width, int.from_bytes(data[1 : 1 + width])
