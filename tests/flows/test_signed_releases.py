"""Compile, verify and show say what a commit's signature is; the release's digest does not depend on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.signing import SshKey, signed_commit
from tests.support.workshop import Workshop
from trunchbuild.core.commit_signature import Signature
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.signatures.api import Signers
from trunchbuild.flows.from_commit import BuildOrder
from trunchbuild.flows.show import summarize
from trunchbuild.flows.signature import NotSignedError, SignatureOrder


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def key(tmp_path: Path) -> SshKey:
    return SshKey.make(tmp_path / "key")


@pytest.fixture
def allowed(tmp_path: Path, key: SshKey) -> Path:
    file = tmp_path / "allowed"
    file.write_text(f"ann@example.invalid {key.public}\n")
    return file


def build(workshop: Workshop, commit: str, signers: Signers, *, required: bool = False) -> BuildOrder:
    return BuildOrder(RepoAddress.parse(str(workshop.repo)), commit, signature=SignatureOrder(signers, required))


def test_a_signed_commit_from_compile_to_verify(workshop: Workshop, key: SshKey, allowed: Path) -> None:
    commit = signed_commit(workshop.repo, "main", key.sign)
    good = Signature("good", "ssh", key.fingerprint, "ann@example.invalid")
    outcome = workshop.compile(build=build(workshop, commit, Signers(allowed), required=True))
    assert outcome.signature == good
    assert outcome.json()["signature"] == {
        "state": "good",
        "kind": "ssh",
        "key": key.fingerprint,
        "signer": "ann@example.invalid",
    }
    assert summarize(workshop.store.open(outcome.release)).signature == good
    report = workshop.verify(str(outcome.release))
    assert f"by its provenance, the commit's signature was {good}" in report.notes
    again = workshop.verify(str(outcome.release), rebuild=True, repo=workshop.address, signers=Signers(allowed))
    assert again.exit_code == 0
    assert next(check for check in again.checks if check.number == 7).note == f"the commit's signature: {good}"


def test_who_is_trusted_changes_no_digest(workshop: Workshop, key: SshKey, allowed: Path) -> None:
    commit = signed_commit(workshop.repo, "main", key.sign)
    trusted = workshop.compile(build=build(workshop, commit, Signers(allowed)))
    unknown = workshop.compile(build=build(workshop, commit, Signers()))
    assert (trusted.signature.state, unknown.signature.state) == ("good", "unknown-key")
    assert (unknown.release, unknown.status) == (trusted.release, "unchanged")


def test_an_unsigned_commit_is_told_and_refused_where_that_is_asked(workshop: Workshop, allowed: Path) -> None:
    with pytest.raises(NotSignedError, match="got none"):
        workshop.compile(build=build(workshop, workshop.commit, Signers(allowed), required=True))
    assert workshop.store.releases() == []
    assert not workshop.lock.exists()
    outcome = workshop.compile(build=build(workshop, workshop.commit, Signers(allowed)))
    assert outcome.signature == Signature("none")
    assert not [note for note in workshop.verify(str(outcome.release)).notes if "signature" in note]
