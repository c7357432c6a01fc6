"""What a Git server says is checked before anything is made of it: dulwich takes any word for an object's id."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.git.api import RepositoryUnreachableError
from trunchbuild.errors import TrunchbuildError

ID = b"1" * 40


def line(data: bytes) -> bytes:
    """A pkt-line (`man gitprotocol-common`)."""
    return b"%04x%b" % (len(data) + 4, data)


def refs(object_id: bytes) -> bytes:
    """A list of one branch in protocol 0 (`man gitprotocol-pack`, Reference Discovery)."""
    return line(object_id + b" refs/heads/main\0agent=git/2 object-format=sha1\n") + b"0000"


def asked(said: bytes, folder: Path) -> None:
    (folder / "said").write_bytes(said)
    program = folder / "ssh"
    # It takes the client's goodbye, or the length of its first line: who ends before is a broken pipe to the client.
    program.write_text(f"#!/bin/sh\ncat {shlex.quote(str(folder / 'said'))}\nhead -c 4 >/dev/null\n", encoding="utf-8")
    program.chmod(0o755)
    with DulwichGit(ssh_command=str(program)).open(RepoAddress.parse("git@host.invalid:x.git"), "main"):
        pass


@pytest.mark.parametrize(
    "object_id", [b"\xff" * 40, b"abc", b"A" * 40, b"1" * 39, b"1" * 41, b"../" * 13 + b"x", b"\x1b[2J" + b"1" * 36]
)
def test_a_ref_without_an_id(object_id: bytes, tmp_path: Path) -> None:
    with pytest.raises(RepositoryUnreachableError, match="no proper answer") as raised:
        asked(refs(object_id), tmp_path)
    assert raised.value.faults[0].expected == "an object id for `refs/heads/main`"


def test_a_ref_with_an_id_is_asked_for(tmp_path: Path) -> None:
    """The twin: the answer to the next question is missing, so that one fails, and not the first."""
    with pytest.raises(TrunchbuildError) as raised:
        asked(refs(ID), tmp_path)
    assert "an object id for" not in str(raised.value)
