"""Sealing: a salt per case, so that answers from a small set cannot be guessed from the public digests.

The salt is deterministic for whoever holds the key, so a sealed release rebuilds to the same digest. What a seal cannot
hide is in `docs/releases.md`: ids, digests of sources, and answers that stay equal between two releases.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.loaded import LoadedEval
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError, Fault

MIN_KEY_BYTES = 16
"""A shorter key could be guessed by trying."""


def checked_key(key: bytes, place: str) -> bytes:
    """The key as it is used: the file's exact bytes.

    Raises:
        BadInputError: It is too short to protect anything.
    """
    if len(key) < MIN_KEY_BYTES:
        raise BadInputError(
            "the key is too short",
            place=place,
            expected=f"at least {MIN_KEY_BYTES} bytes",
            got=f"{len(key)}",
            hint="`openssl rand -out KEYFILE 32` makes one; keep it: rebuilding the release needs it",
        )
    return key


def salt_of(key: bytes, eval_id: str, case_id: str, private: bytes) -> str:
    r"""HMAC-SHA256(key, "trunchbuild.salt/v1\0" || eval || "\0" || id || "\0" || sha256(private line)), in hex.

    `private` is the case's private line before sealing; its SHA-256 goes in as 32 bytes. An eval id and a case id hold
    no control character, so the zero bytes divide them beyond doubt.
    """
    message = b"\0".join((b"trunchbuild.salt/v1", eval_id.encode(), case_id.encode(), hashlib.sha256(private).digest()))
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def sealed_line(key: bytes, eval_id: str, case_id: str, private: bytes) -> bytes:
    """The private line with its salt."""
    value = read_json(private, "private.jsonl")
    assert isinstance(value, dict)
    return canonical_bytes({**value, "salt": salt_of(key, eval_id, case_id, private)})


def seal_faults(evals: Iterable[LoadedEval]) -> list[Fault]:
    """Files under `modules/` that would give the answers away: inline cases, or a data file that a run loads."""
    evals = list(evals)
    telling = {item.module.path: "holds inline cases" for item in evals if item.form == "inline"}
    for item in evals:
        if item.case_file is not None:
            telling[item.case_file.path] = f"holds the cases of eval `{item.id}`"
        if item.transformer is not None:
            for source in item.transformer.sources:
                telling[source.file.path] = f"is source `{source.name}` of eval `{item.id}`"
    published = {path: item.id for item in evals for path in item.run_modules}
    return [
        Fault(
            place=path,
            message=f"a run of eval `{published[path]}` needs this module, and it {telling[path]}: "
            "a sealed release would publish the answers",
            hint="move the evaluator to a module of its own, or the cases to a file",
        )
        for path in sorted(published.keys() & telling.keys())
    ]
