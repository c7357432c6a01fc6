"""Signatures by OpenPGP keys, through GnuPG's status lines (its `doc/DETAILS`)."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from trunchbuild.core.commit_signature import Signature, SignatureState, SignedCommit, openpgp_packet
from trunchbuild.effects.signatures._runner import Runner
from trunchbuild.errors import BadInputError

_STATUS = b"[GNUPG:] "
_FINGERPRINT = re.compile(r"[0-9A-F]{40}(?:[0-9A-F]{24})?\Z")
_VERDICTS: dict[str, SignatureState] = {
    "GOODSIG": "good",
    "BADSIG": "bad",
    "ERRSIG": "unchecked",
    "EXPSIG": "expired",
    "EXPKEYSIG": "expired",
    "REVKEYSIG": "revoked",
}
_NO_PUBLIC_KEY = "9"

# No configuration, no key server, no lock, no prompt, nothing written.
_QUIET = (
    "--no-options",
    "--batch",
    "--no-tty",
    "--no-auto-key-retrieve",
    "--disable-dirmngr",
    "--no-auto-check-trustdb",
    "--lock-never",
    "--no-permission-warning",
    "--status-fd",
    "1",
)


def check_openpgp(signed: SignedCommit, run: Runner, *, home: Path | None, all_count: bool) -> Signature:
    """Check against the keys in `home`; `all_count` says that it holds only keys that are trusted.

    Otherwise a key counts whose owner the user's own web of trust vouches for: programs put strangers' keys there too.
    """
    try:
        packet = openpgp_packet(signed.signature)
    except BadInputError as error:
        return Signature("bad", "openpgp", detail=error.message)
    if home is None or not home.is_dir():
        return Signature("unknown-key", "openpgp", detail="there is no GnuPG home folder: --gpg-home DIR names one")
    trust = ("--trust-model", "always") if all_count else ()
    arguments = ["--homedir", str(home), *_QUIET, *trust, "--verify", "--", run.file("signature", packet), "-"]
    return _judged(_statuses(run(arguments, signed.payload).stdout), all_count=all_count)


def _statuses(output: bytes) -> list[list[str]]:
    lines = (line[len(_STATUS) :] for line in output.split(b"\n") if line.startswith(_STATUS))
    return [line.decode("utf-8", "replace").split(" ") for line in lines if line]


def _judged(statuses: list[list[str]], *, all_count: bool) -> Signature:
    """One verdict, or none: several signatures in one are refused, as Git does."""
    verdicts = [words for words in statuses if words[0] in _VERDICTS]
    if len(verdicts) != 1:
        return Signature("unchecked", "openpgp", detail=f"gpg gave {len(verdicts)} verdicts")
    word, arguments = verdicts[0][0], verdicts[0][1:]
    key = arguments[0] if arguments else None
    if word == "ERRSIG":
        return _not_checked(arguments)
    valid = [words[-1] for words in statuses if words[0] == "VALIDSIG" and _FINGERPRINT.match(words[-1])]
    if word == "BADSIG" or len(valid) != 1:
        return Signature("bad", "openpgp", key, detail="it does not fit the commit")
    return _whole(_VERDICTS[word], valid[0], unquote(" ".join(arguments[1:]), errors="replace"), statuses, all_count)


def _not_checked(arguments: list[str]) -> Signature:
    """`ERRSIG <key> <algorithm> <digest> <class> <time> <reason> <fingerprint>`."""
    key = arguments[0] if arguments else None
    if len(arguments) <= 5 or arguments[5] != _NO_PUBLIC_KEY:
        return Signature("unchecked", "openpgp", key, detail="gpg cannot read this kind of signature")
    fingerprint = arguments[6] if len(arguments) > 6 and _FINGERPRINT.match(arguments[6]) else key
    return Signature("unknown-key", "openpgp", fingerprint, detail="the keyring does not hold the key")


def _whole(state: SignatureState, primary: str, signer: str, statuses: list[list[str]], all_count: bool) -> Signature:
    """A signature that fits the commit, by a key that the keyring holds."""
    vouched = all_count or any(words[0] in {"TRUST_FULLY", "TRUST_ULTIMATE"} for words in statuses)
    if state == "good" and not vouched:
        why = f"the keyring holds it as `{signer}`, and nothing there vouches for that"
        return Signature("unknown-key", "openpgp", primary, detail=why)
    return Signature(state, "openpgp", primary, signer or None)
