"""Packs made by hand: chains, circles, lies about sizes, and odd files where Git keeps its own."""

from __future__ import annotations

import os
import zlib
from hashlib import sha1
from pathlib import Path

import pytest

from tests.support.repos import git, make_repo
from tests.support.signing import raw_commit, write_commit
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.tree import FileTooLargeError
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.git._packed import CHAIN_BYTES, PackedObjects, apply_delta
from trunchbuild.effects.git._received import ReceivedPack
from trunchbuild.effects.git.api import CorruptRepositoryError

BLOB, OFFSET, REF = 3, 6, 7


def number(value: int) -> bytes:
    """A base-128 number, as deltas state sizes."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*made, value])


def entry(kind: int, content: bytes, *, base: bytes = b"", stated: int | None = None) -> bytes:
    size = len(content) if stated is None else stated
    head = [kind << 4 | size & 15]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + base + zlib.compress(content, 1)


def pack(*entries: bytes) -> bytes:
    body = b"PACK" + (2).to_bytes(4) + len(entries).to_bytes(4) + b"".join(entries)
    return body + sha1(body).digest()


def blob_id(content: bytes) -> bytes:
    return sha1(b"blob %d\0" % len(content) + content).digest()


def appending(base: bytes, more: bytes) -> bytes:
    """A delta: all of a base under 256 bytes, then `more`."""
    made = number(len(base)) + number(len(base) + len(more)) + bytes([0x90, len(base)])
    return made + bytes([len(more)]) + more


def received(path: Path, data: bytes, inflated: int = 1 << 30) -> ReceivedPack:
    path.write_bytes(data)
    return ReceivedPack(path, "sha1", inflated=inflated, place="here")


def test_deltas_of_both_kinds_in_any_order(tmp_path: Path) -> None:
    """Git's own reader names the same objects."""
    first, second, third = b"first ", b"first second ", b"first second third"
    early = entry(REF, appending(second, b"third"), base=blob_id(second))
    whole = entry(BLOB, first)
    late = entry(OFFSET, appending(first, b"second "), base=bytes([len(whole)]))
    data = pack(early, whole, late)
    made = received(tmp_path / "a.pack", data)
    for content in (first, second, third):
        offset = made.offset_of(blob_id(content))
        assert offset is not None
        assert made.objects.read(offset, 100, "x") == ("blob", content)
        assert made.objects.size(offset) == len(content)
    made.close()
    git(tmp_path, "init", "--quiet", "--bare", "r.git")
    git(tmp_path / "r.git", "index-pack", "--stdin", stdin=data)
    assert git(tmp_path / "r.git", "cat-file", "blob", blob_id(third).hex()) == third.decode()


@pytest.mark.parametrize(
    "entries",
    [
        [entry(OFFSET, appending(b"x", b"y"), base=b"\0")],
        [entry(OFFSET, appending(b"x", b"y"), base=b"\x7f")],
        [entry(REF, appending(b"x", b"y"), base=blob_id(b"xy"))],
        [entry(REF, appending(b"x", b"y"), base=b"1" * 20)],
        [entry(REF, appending(b"x", b"y"), base=b"1" * 20), entry(REF, appending(b"y", b"x"), base=b"2" * 20)],
        [entry(BLOB, b"x"), entry(REF, number(2) + number(1) + b"\x01z", base=blob_id(b"x"))],
        [entry(BLOB, b"x"), entry(REF, number(1) + number(9) + b"\x01z", base=blob_id(b"x"))],
        [entry(BLOB, b"x"), entry(REF, number(1) + number(1) + b"\x02zz", base=blob_id(b"x"))],
        [entry(BLOB, b"x"), entry(REF, number(1) + number(1) + b"\x90\x09", base=blob_id(b"x"))],
        [entry(BLOB, b"x"), entry(REF, number(1) + number(1) + b"\x00", base=blob_id(b"x"))],
        [entry(BLOB, b"x", stated=2)],
        [entry(BLOB, b"xyz", stated=2)],
        [entry(BLOB, b"xyz", stated=1 << 60)],
        [entry(5, b"x")],
        [b"\xbf" + b"\xff" * 40],
        [entry(BLOB, b"x") + b"more"],
    ],
)
def test_a_pack_that_makes_no_sense(tmp_path: Path, entries: list[bytes]) -> None:
    with pytest.raises(CorruptRepositoryError, match=r"the server sent a damaged pack|too much comes out"):
        received(tmp_path / "a.pack", pack(*entries))
    good = received(tmp_path / "b.pack", pack(entry(BLOB, b"x")))
    assert good.offset_of(blob_id(b"x")) == 12
    good.close()


def test_every_flipped_bit_of_a_sent_pack_is_seen(tmp_path: Path) -> None:
    """Its checksum covers all of it; and without that, an object is named by what it is."""
    data = pack(entry(BLOB, b"right"), entry(REF, appending(b"right", b"!"), base=blob_id(b"right")))
    for at in range(len(data)):
        harmed = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
        with pytest.raises(CorruptRepositoryError):
            received(tmp_path / "a.pack", harmed)
        if at < len(data) - 20:
            try:
                made = received(tmp_path / "b.pack", harmed[:-20] + sha1(harmed[:-20]).digest())
            except CorruptRepositoryError:
                continue
            for name, offset in made.named():
                assert blob_id(made.objects.read(offset, 100, "x")[1]) == name
            made.close()


def test_what_comes_out_of_a_pack_is_bounded(tmp_path: Path) -> None:
    """A thousand differences of twelve bytes, each of which makes a megabyte."""
    big = bytes(1 << 20)
    # Sixteen copies of 64 KiB from offset 0.
    delta = number(len(big)) + number(len(big)) + b"\x80" * 16
    data = pack(entry(BLOB, big), *[entry(REF, delta, base=blob_id(big)) for _ in range(1000)])
    assert apply_delta(big, delta) == big
    assert len(data) < 100_000
    with pytest.raises(CorruptRepositoryError, match="too much comes out"):
        received(tmp_path / "a.pack", data, inflated=100 << 20)


def test_what_is_far_too_large_does_not_stop_what_is_needed(tmp_path: Path) -> None:
    """A difference that would make a gigabyte is left out; a base of that size is never in memory."""
    small = b"needed"
    huge = number(len(small)) + number(1 << 30) + b"\x80" * 16
    made = received(tmp_path / "a.pack", pack(entry(BLOB, small), entry(REF, huge, base=blob_id(small))))
    offset = made.offset_of(blob_id(small))
    assert offset is not None
    assert made.objects.read(offset, 100, "x") == ("blob", small)
    assert len(list(made.named())) == 1
    made.close()


@pytest.mark.parametrize("size", [CHAIN_BYTES + 1, 1 << 59])
def test_a_base_is_measured_before_it_is_inflated(tmp_path: Path, size: int) -> None:
    """The difference is tiny, and says that it makes three bytes."""
    root = entry(BLOB, b"not of that size", stated=size)
    child = entry(OFFSET, number(size) + number(3) + b"\x03abc", base=bytes([len(root)]))
    path = tmp_path / "a.pack"
    path.write_bytes(pack(root, child))
    objects = PackedObjects(path, 20, lambda _: None)
    with pytest.raises(FileTooLargeError):
        objects.read(12 + len(root), 1000, "x")
    objects.close()


def test_a_circle_of_deltas_in_a_repository_ends(tmp_path: Path) -> None:
    """An index may say of any id that it stands anywhere."""
    path = tmp_path / "a.pack"
    one = entry(REF, appending(b"x", b"y"), base=b"2" * 20)
    two = entry(REF, appending(b"y", b"x"), base=b"1" * 20)
    path.write_bytes(pack(one, two))
    objects = PackedObjects(path, 20, {b"1" * 20: 12, b"2" * 20: 12 + len(one)}.get)
    with pytest.raises(ValueError, match="circle"):
        objects.read(12, 1000, "x")
    objects.close()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    make_repo(tmp_path / "repo", {"a": "1\n"})
    return tmp_path / "repo"


def read(repo: Path) -> bytes:
    with DulwichGit().open(RepoAddress.parse(str(repo)), "main") as tree:
        return tree.read("a")


@pytest.mark.parametrize("name", ["pack/pack-x.idx", "pack/pack-x.pack", "info/alternates"])
def test_a_pipe_among_the_objects_is_not_waited_for(repo: Path, name: str) -> None:
    objects = repo / ".git/objects"
    git(repo, "gc", "--quiet")
    assert read(repo) == b"1\n"
    if name.startswith("pack/"):
        other = "pack/pack-x.pack" if name.endswith(".idx") else "pack/pack-x.idx"
        (objects / other).write_bytes(b"")
    (objects / name).unlink(missing_ok=True)
    os.mkfifo(objects / name)
    with pytest.raises(CorruptRepositoryError):
        read(repo)


@pytest.mark.parametrize("name", ["config", "packed-refs", "refs/heads/main", "objects/info/alternates"])
def test_a_file_of_a_terabyte_is_not_read(repo: Path, name: str) -> None:
    """Sparse: it takes no room on the disk."""
    assert read(repo) == b"1\n"
    file = repo / ".git" / name
    if name == "packed-refs":
        (repo / ".git/refs/heads/main").unlink()
    with file.open("ab") as opened:
        opened.truncate(1 << 40)
    with pytest.raises(CorruptRepositoryError, match="too large"):
        read(repo)


def test_commits_whose_people_and_times_are_odd_are_read_as_git_reads_them(repo: Path) -> None:
    """Old programs wrote such; only the tree counts here."""
    raw = raw_commit(repo, "main")
    for old, new in [(b"+0000", b"+051800"), (b"<author@example.invalid>", b"<>"), (b"committer ", b"x-committer ")]:
        commit = write_commit(repo, raw.replace(old, new))
        assert git(repo, "rev-parse", f"{commit}^{{tree}}") == git(repo, "rev-parse", "main^{tree}")
        with DulwichGit().open(RepoAddress.parse(str(repo)), commit) as tree:
            assert tree.read("a") == b"1\n"
