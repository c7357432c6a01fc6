"""Signatures by ssh keys (OpenSSH's `PROTOCOL.sshsig`), in the namespace `git`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from trunchbuild.core.commit_signature import Signature, SignedCommit
from trunchbuild.effects.signatures._runner import Runner

_KEY = re.compile(rb'^Good "git" signature .*with \S+ key (SHA256:[A-Za-z0-9+/=]+)$', re.MULTILINE)
_NAMESPACE = ("-n", "git")


def check_ssh(signed: SignedCommit, run: Runner, *, allowed: Path | None, revoked: Path | None) -> Signature:
    """First whether the signature is whole, then whether its key is somebody's, as Git asks (`gpg-interface.c`).

    A key must have been valid when the commit says that it was made.
    """
    file = run.file("signature", signed.signature)
    whole = run(["-Y", "check-novalidate", *_NAMESPACE, "-s", file], signed.payload)
    found = _KEY.search(whole.stdout)
    if whole.returncode != 0 or found is None:
        return Signature("bad", "ssh", detail=_reason(whole.stderr))
    key = found[1].decode()
    if allowed is None or not allowed.is_file():
        where = "no file of allowed signers is known: --allowed-signers FILE, or Git's gpg.ssh.allowedSignersFile"
        return Signature("unknown-key", "ssh", key, detail=where)
    when = f"-Overify-time={datetime.fromtimestamp(signed.committed, UTC):%Y%m%d%H%M%S}"
    principals = run(["-Y", "find-principals", "-f", str(allowed), "-s", file, when], b"")
    names = principals.stdout.decode("utf-8", "replace").splitlines() if principals.returncode == 0 else []
    for name in names:
        verify = ["-Y", "verify", *_NAMESPACE, "-f", str(allowed), "-I", name, "-s", file, when]
        if run(verify, signed.payload).returncode != 0:
            continue
        if revoked is not None and run([*verify, "-r", str(revoked)], signed.payload).returncode != 0:
            return Signature("revoked", "ssh", key, name, "Git's gpg.ssh.revocationFile lists the key")
        return Signature("good", "ssh", key, name)
    return Signature(
        "unknown-key", "ssh", key, detail="no allowed signer had this key, for Git, when the commit was made"
    )


def _reason(stderr: bytes) -> str:
    """The first line of what the program says, for people."""
    first = stderr.decode("utf-8", "replace").strip().split("\n")[0].strip()
    return first[:200] or "it does not fit the commit"
