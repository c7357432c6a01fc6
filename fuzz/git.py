"""What Git servers, repositories and the programs beside Git say."""

from __future__ import annotations

import atexit
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha1
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from subprocess import CompletedProcess
from tempfile import mkdtemp
from typing import IO

from dulwich.config import ConfigFile
from dulwich.objects import parse_tree as parse_tree_by_dulwich
from dulwich.protocol import Protocol

from fuzz.errors import Reader
from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.commit_signature import (
    Signature,
    SignedCommit,
    openpgp_packet,
    read_signature,
    signed_commit,
)
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import HEX_LENGTH
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.tree_objects import TreeEntry, parse_tree
from trunchbuild.effects.git._folders import Store
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._local import _include, _settings
from trunchbuild.effects.git._meter import Meter
from trunchbuild.effects.git._objects import ObjectReader
from trunchbuild.effects.git._ssh import SshClient
from trunchbuild.effects.git._transport import Transport
from trunchbuild.effects.git.api import CorruptRepositoryError
from trunchbuild.effects.signatures._openpgp import check_openpgp
from trunchbuild.effects.signatures._ssh import check_ssh

MODES = {"file": {0o100644, 0o100755, 0o100664}, "folder": {0o40000}, "link": {0o120000}, "submodule": {0o160000}}
ADDRESS = RepoAddress.parse("ssh://git@example.org/x.git")
ARMOUR = b"-----BEGIN PGP SIGNATURE-----\n\niAEA\n-----END PGP SIGNATURE-----\n"


def tree_entries(data: bytes) -> None:
    """Every byte of an accepted tree is in an entry, and dulwich reads the same entries."""
    entries = parse_tree(data, "sha1", place="tree")
    assert all(_end_of(entry) in data for entry in entries)
    theirs = list(parse_tree_by_dulwich(data, sha_len=20))
    assert [(entry.name, entry.object_id.encode()) for entry in entries] == [(name, sha) for name, _, sha in theirs]
    assert all(mode in MODES[entry.kind] for entry, (_, mode, _) in zip(entries, theirs, strict=True))


def _end_of(entry: TreeEntry) -> bytes:
    return b" " + entry.name + b"\0" + bytes.fromhex(entry.object_id)


class SaidClient(SshClient):
    """A client whose server has said all that it will ever say."""

    def __init__(self, said: bytes, meter: Meter) -> None:
        super().__init__(ADDRESS, ssh_command="none", meter=meter)
        self.said = said

    def _connect(
        self, cmd: bytes, path: str | bytes, protocol_version: int | None = None
    ) -> tuple[Protocol, Callable[[], bool], IO[bytes] | None]:
        assert cmd
        assert path
        self.protocol_version = 2 if protocol_version is None else protocol_version
        answer = BytesIO(self.said)
        return Protocol(answer.read, len), lambda: True, None

    @contextmanager
    def talk(self) -> Iterator[None]:
        """Nothing has to be ended."""
        yield


def server(data: bytes) -> None:
    """The first byte chooses: a list of refs, or a fetch. Ids are ids, whatever the server says."""
    transport = Transport(ADDRESS, insecure_http=False, ssh_command=None, limits=GitLimits())
    transport._client = SaidClient(data[1:], Meter(GitLimits()))
    if data[:1] == b"r":
        refs, head, object_format = transport.refs(["refs/heads/", "HEAD"])
        assert isinstance(object_format, str)
        assert head is None or isinstance(head, str)
        assert all(_is_id(each) for each in refs.values()), refs
        return

    def wants(refs: Mapping[str, str]) -> list[str]:
        assert all(_is_id(each) for each in refs.values()), refs
        return ["0" * 39 + "1"]

    transport.fetch(wants, len, prefixes=["refs/"], depth=1)


def _is_id(text: str) -> bool:
    return len(text) in HEX_LENGTH.values() and all(digit in "0123456789abcdef" for digit in text)


@cache
def _folder() -> Path:
    """One for the process: each object is removed after it was read."""
    folder = Path(mkdtemp(prefix="fuzz-objects-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


def loose_object(data: bytes) -> None:
    """Compressed, and as it stands: a file is an object only where its bytes have the id for a name."""
    name = sha1(data).hexdigest()
    kind, content = _read_loose(name, zlib.compress(data, 1))
    assert b"%b %d\0%b" % (kind.encode(), len(content), content) == data
    with suppress(CorruptRepositoryError):
        _read_loose(name, data)
        raise AssertionError("read what was never compressed")


def _read_loose(name: str, stored: bytes) -> tuple[str, bytes]:
    file = _folder() / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(stored)
    reader = ObjectReader(Store(_folder(), "sha1"), "sha1", max_bytes=1 << 16)
    try:
        return reader.read(name, "file")
    finally:
        reader.close()
        file.unlink()


def git_config(data: bytes) -> None:
    """As `open_local` reads it: any `ValueError` is a config that cannot be read."""
    try:
        config = ConfigFile.from_file(BytesIO(data), file_opener=_include)
        object_format, _, _ = _settings(config, Path("repository"))
    except (ValueError, FileNotFoundError) as error:
        raise CorruptRepositoryError(f"the repository's config cannot be read ({error})", place="config") from error
    assert object_format in HEX_LENGTH


def signed(data: bytes) -> None:
    """The payload is the commit without the signature's lines: nothing else goes, nothing comes."""
    found = signed_commit(data, "sha1")
    if isinstance(found, Signature):
        assert found.state in {"none", "bad", "unchecked"}
        assert found.state != "none" or found == Signature("none")
        str(found)
        return
    head, blank, message = data.partition(b"\n\n")
    kept = found.payload.partition(b"\n\n")[0].split(b"\n")
    lines = head.split(b"\n")
    assert found.payload.endswith(blank + message)
    rest = iter(lines)
    assert all(line in rest for line in kept), "a line that was not there, or stood elsewhere"
    assert sum(map(len, lines)) - sum(map(len, kept)) >= len(found.signature.replace(b"\n", b""))


def openpgp(data: bytes) -> None:
    """One signature packet, whose length is that of its body."""
    packet = openpgp_packet(data)
    assert packet[0] & 0x80
    assert len(packet) > 1


class SayingRunner:
    """A `Runner` whose program says the same every time."""

    def __init__(self, code: int, said: bytes) -> None:
        self._done = CompletedProcess((), code, said, said)

    def file(self, name: str, content: bytes) -> str:
        """See `Runner`."""
        assert content
        return f"/scratch/{name}"

    def __call__(self, arguments: Sequence[str], stdin: bytes) -> CompletedProcess[bytes]:
        """See `Runner`."""
        assert all(isinstance(argument, str) for argument in arguments)
        assert isinstance(stdin, bytes)
        return self._done


def gpg_said(data: bytes) -> None:
    """Good only where gpg said so, by a whole signature, and nothing against it."""
    commit = SignedCommit(b"tree\n", ARMOUR, "openpgp", 1_700_000_000)
    for all_count in (False, True):
        found = check_openpgp(commit, SayingRunner(0, data), home=Path("/"), all_count=all_count)  # type: ignore[arg-type]
        if found.state == "good":
            assert b"[GNUPG:] GOODSIG" in data
            assert b"[GNUPG:] VALIDSIG" in data
            assert all_count or b"[GNUPG:] TRUST_" in data
        assert read_signature(read_json(_json(found), "signature"), "signature") == found
        str(found)


def ssh_said(data: bytes) -> None:
    """The first byte is the exit code; never good but for a key that ssh-keygen named."""
    commit = SignedCommit(b"tree\n", b"armour\n", "ssh", 1_700_000_000)
    runner = SayingRunner(data[0] if data else 0, data[1:])
    for allowed in (None, Path("/etc/passwd")):
        found = check_ssh(commit, runner, allowed=allowed, revoked=None)  # type: ignore[arg-type]
        if found.state == "good":
            assert b'Good "git" signature' in data
            assert allowed is not None
        assert read_signature(read_json(_json(found), "signature"), "signature") == found
        str(found)


def _json(found: Signature) -> bytes:
    return canonical_bytes(found.json())


def signature(data: bytes) -> None:
    found = read_signature(read_json(data, "signature"), "signature")
    assert read_signature(read_json(_json(found), "again"), "again") == found


READERS = (
    Reader("tree-entries", tree_entries, max_bytes=1000),
    Reader("server", server),
    Reader("loose-object", loose_object, max_bytes=1000),
    Reader("git-config", git_config, max_bytes=1000),
    Reader("signed-commit", signed, max_bytes=2000),
    Reader("openpgp-packet", openpgp, max_bytes=2000),
    Reader("gpg-said", gpg_said, max_bytes=1000),
    Reader("ssh-said", ssh_said, max_bytes=500),
    Reader("signature", signature, json=True),
)
