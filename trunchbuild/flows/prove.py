"""Prove that one case belongs to a release."""

from __future__ import annotations

from collections.abc import Iterator

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.ids import CaseId
from trunchbuild.core.manifest import CASES, PRIVATE
from trunchbuild.core.merkle import audit_path
from trunchbuild.core.proof import Proof
from trunchbuild.core.public_case import PublicCase
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError, UsageError


def parse_case_id(text: str) -> CaseId:
    """Read `EVAL/ID`; an id may hold further slashes.

    Raises:
        UsageError: There is no slash with something on either side.
    """
    eval_id, slash, case_id = text.partition("/")
    if not slash or not eval_id or not case_id:
        raise UsageError("not a case", expected="EVAL/ID", got=f"`{text}`")
    return CaseId(eval_id, case_id)


def find_case(files: ReleaseFiles, case: CaseId) -> tuple[int, bytes]:
    """Index (from 0) and public line of a case.

    Raises:
        BadInputError: The release has no such eval or case.
        DamagedReleaseError: `cases.jsonl` is not what the manifest lists.
    """
    files.manifest.eval(case.eval)
    # In canonical JSON the members of a line are sorted: this text occurs in the case's own line, and rarely elsewhere.
    mark = b'"eval":' + canonical_bytes(case.eval) + b","
    own = b'"id":' + canonical_bytes(case.id) + b","
    found: tuple[int, bytes] | None = None
    for index, line in enumerate(files.lines(CASES)):
        if found is None and own in line and mark in line and PublicCase.parse(line).case == case:
            found = index, line
    if found is None:
        raise BadInputError(
            "the release has no such case", got=f"`{case}`", hint="`trunchbuild show RELEASE --cases` lists their ids"
        )
    return found


def prove_case(files: ReleaseFiles, case: CaseId, *, private: bool = False) -> Proof:
    """The proof of a case's public line, or of its private one.

    Raises:
        BadInputError: The release has no such case, or its private part is withheld.
        DamagedReleaseError: The file is not what the manifest lists.
    """
    index, line = find_case(files, case)
    path = PRIVATE if private else CASES
    if private:
        line = private_line(files, index)
    return Proof(
        release=files.digest,
        file=path,
        index=index,
        lines=files.manifest.file(path).lines or 0,
        line=line,
        path=audit_path(files.lines(path), index),
    )


def private_line(files: ReleaseFiles, index: int) -> bytes:
    """The private line at an index; the whole file is read, so that its digest is checked."""
    lines: Iterator[bytes] = files.lines(PRIVATE)
    found = [line for at, line in enumerate(lines) if at == index]
    if not found:
        raise BadInputError("no such line", place=f"{PRIVATE}:{index + 1}")
    return found[0]
