"""Repositories on servers: Git's own `http-backend`, with what public hosts allow and with what strict ones refuse."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest

from tests.servers.git_http import EVERYTHING, NOTHING, GitHttpServer, serve
from tests.support.repos import Files, add_commit, environment, git, make_repo
from trunchbuild.core.repo import RepoAddress, parse_target
from trunchbuild.core.revision import AmbiguousRevisionError, NoRevisionError, UnknownRevisionError
from trunchbuild.core.tree import FileTooLargeError
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._remote import WANTS_PER_REQUEST
from trunchbuild.effects.git._transport import PackTooLargeError
from trunchbuild.effects.git.api import (
    CommitNotServedError,
    CorruptRepositoryError,
    Pin,
    RepositoryUnreachableError,
    UnsupportedRepositoryError,
)
from trunchbuild.errors import ExitCode, TrunchbuildError, UsageError

SERVERS = pytest.mark.parametrize(
    ("options", "protocol_2"),
    [(EVERYTHING, True), (EVERYTHING, False), (NOTHING, True), (NOTHING, False)],
    ids=["open-v2", "open-v0", "strict-v2", "strict-v0"],
)
UNKNOWN = "0123456789abcdef0123456789abcdef01234567"


def pin_of(target: str) -> Pin:
    with DulwichGit().open(*parse_target(target)) as tree:
        return tree.pin


def read(target: str, file: str) -> bytes:
    with DulwichGit().open(*parse_target(target)) as tree:
        return tree.read(file)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., str]:
    """Makes `repo.git` with a first commit and returns its id."""

    def make(files: Files, **options: str) -> str:
        return make_repo(tmp_path / "repo.git", files, bare=True, **options)  # type: ignore[arg-type]

    return make


@SERVERS
@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_every_kind_of_revision_from_every_kind_of_server(
    make: Callable[..., str], tmp_path: Path, options: dict[str, str], protocol_2: bool, object_format: str
) -> None:
    """The first commit is no branch's tip: by id a strict server gives it only through a wider fetch."""
    first = make({"a": "1\n", "d/b": "b\n"}, object_format=object_format)
    second = add_commit(tmp_path / "repo.git", {"a": "2\n"})
    git(tmp_path / "repo.git", "tag", "-a", "-m", "v1", "v1", second)
    with serve(tmp_path, options, protocol_2=protocol_2) as server:
        for revision, ref, commit, content in [
            (first, None, first, b"1\n"),
            ("main", "refs/heads/main", second, b"2\n"),
            ("v1", "refs/tags/v1", second, b"2\n"),
        ]:
            with DulwichGit().open(RepoAddress.parse(server.url()), revision) as tree:
                assert tree.pin == Pin(
                    url=server.url(),
                    requested=revision,
                    resolved_ref=ref,
                    object_format=object_format,  # type: ignore[arg-type]
                    commit=commit,  # type: ignore[arg-type]
                    tree=git(tmp_path / "repo.git", "rev-parse", f"{commit}^{{tree}}"),
                )
                assert list(tree.paths()) == ["a", "d/b"]
                tree.prefetch(["a", "d/b", "c"])
                assert (tree.read("a"), tree.read("d/b")) == (content, b"b\n")


def test_head_and_full_ref_names(make: Callable[..., str], tmp_path: Path) -> None:
    make({"a": "1\n"})
    commit = add_commit(tmp_path / "repo.git", {"a": "2\n"})
    git(tmp_path / "repo.git", "tag", "-a", "-m", "v1", "v1", commit)
    with serve(tmp_path) as server:
        for revision, ref in [("HEAD", "refs/heads/main"), ("refs/tags/v1", "refs/tags/v1"), (commit.upper(), None)]:
            pin = pin_of(f"{server.url()}@{revision}")
            assert (pin.resolved_ref, pin.commit, pin.requested) == (ref, commit, revision)


def test_only_the_blobs_that_are_read_travel(make: Callable[..., str], tmp_path: Path) -> None:
    commit = make({"needed": "1\n", "also": "2\n", "unneeded": "3\n", "same": "2\n"})
    with serve(tmp_path) as server:
        with DulwichGit().open(RepoAddress.parse(server.url()), commit) as tree:
            assert len(list(tree.paths())) == 4
            assert set(server.wants()) == {commit}
            before = len(server.requests)
            tree.prefetch(["needed", "also", "same", "missing"])
            fetched = len(server.requests) - before
            assert (tree.read("needed"), tree.read("also"), tree.read("same")) == (b"1\n", b"2\n", b"2\n")
            assert len(server.requests) - before == fetched
        blobs = {git(tmp_path / "repo.git", "rev-parse", f"main:{name}") for name in ("needed", "also")}
        assert set(server.wants()) == {commit, *blobs}


def test_many_blobs_are_asked_for_in_batches(make: Callable[..., str], tmp_path: Path) -> None:
    files = {f"f{number}": f"{number}\n" for number in range(WANTS_PER_REQUEST + 7)}
    commit = make(files)
    with serve(tmp_path) as server, DulwichGit().open(RepoAddress.parse(server.url()), commit) as tree:
        tree.prefetch(files)
        assert [tree.read(name) for name in ("f0", "f5006")] == [b"0\n", b"5006\n"]
        counts = [body.count(b"want ") for body in server.bodies if b"want " in body]
        assert counts == [1, 5_000, 7]


def test_the_clone_is_thrown_away(make: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make({"a": "1\n"})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with serve(tmp_path) as server:
        with DulwichGit().open(RepoAddress.parse(server.url()), "main") as tree:
            assert tree.read("a") == b"1\n"
            assert list(scratch.iterdir())
        assert list(scratch.iterdir()) == []
        with pytest.raises(CommitNotServedError):
            pin_of(f"{server.url()}@{UNKNOWN}")
        assert list(scratch.iterdir()) == []


@SERVERS
def test_force_push_back_then_gone(
    make: Callable[..., str], tmp_path: Path, options: dict[str, str], protocol_2: bool
) -> None:
    """R105: a locked commit that no branch reaches: given by id while the server has it, then a message says why."""
    repo = tmp_path / "repo.git"
    first = make({"a": "1\n"})
    second = add_commit(repo, {"a": "2\n"})
    git(repo, "update-ref", "refs/heads/main", first)
    by_id = protocol_2 or options is EVERYTHING
    with serve(tmp_path, options, protocol_2=protocol_2) as server:
        assert pin_of(f"{server.url()}@main").commit == first
        if by_id:
            assert read(f"{server.url()}@{second}", "a") == b"2\n"
        git(repo, "gc", "--quiet", "--prune=now")
        for target in (f"{server.url()}@{second}", f"{server.url()}@{UNKNOWN}"):
            with pytest.raises(CommitNotServedError) as caught:
                pin_of(target)
            assert "history was probably rewritten" in str(caught.value.hint)
            assert caught.value.exit_code == ExitCode.MACHINE
        assert read(f"{server.url()}@{first}", "a") == b"1\n"


def test_a_branch_that_moves_back_between_two_builds(make: Callable[..., str], tmp_path: Path) -> None:
    """R106: nothing shallow is kept that an older commit would not fit into."""
    repo = tmp_path / "repo.git"
    first = make({"a": "1\n"})
    second = add_commit(repo, {"a": "2\n"})
    with serve(tmp_path) as server:
        assert (pin_of(f"{server.url()}@main").commit, read(f"{server.url()}@main", "a")) == (second, b"2\n")
        git(repo, "update-ref", "refs/heads/main", first)
        assert (pin_of(f"{server.url()}@main").commit, read(f"{server.url()}@main", "a")) == (first, b"1\n")
        assert read(f"{server.url()}@{first}", "a") == b"1\n"


def test_no_revision_prints_the_commit(make: Callable[..., str], tmp_path: Path) -> None:
    commit = make({"a": "1\n"})
    with serve(tmp_path) as server:
        with pytest.raises(NoRevisionError) as caught:
            pin_of(server.url(login="user:hunter22@"))
        assert commit in str(caught.value)
        assert caught.value.hint == f"to pin it: {server.url()}@{commit}"


@SERVERS
def test_ambiguity(make: Callable[..., str], tmp_path: Path, options: dict[str, str], protocol_2: bool) -> None:
    repo = tmp_path / "repo.git"
    first = make({"a": "1\n"})
    second = add_commit(repo, {"a": "2\n"})
    git(repo, "tag", "v1", first)
    git(repo, "branch", "v1", second)
    git(repo, "update-ref", f"refs/heads/{first}", second)
    with serve(tmp_path, options, protocol_2=protocol_2) as server:
        with pytest.raises(AmbiguousRevisionError) as caught:
            pin_of(f"{server.url()}@v1")
        assert f"refs/tags/v1 ({first}), refs/heads/v1 ({second})" in str(caught.value)
        with pytest.raises(AmbiguousRevisionError) as caught:
            pin_of(f"{server.url()}@{first}")
        assert f"refs/heads/{first} ({second})" in str(caught.value)
        assert pin_of(f"{server.url()}@{second}").commit == second


def test_unknown_names_and_abbreviations(make: Callable[..., str], tmp_path: Path) -> None:
    commit = make({"a": "1\n"})
    with serve(tmp_path) as server:
        with pytest.raises(UnknownRevisionError) as caught:
            pin_of(f"{server.url()}@mian")
        assert caught.value.hint == "did you mean `main`?"
        with pytest.raises(UnknownRevisionError, match="local repositories only"):
            pin_of(f"{server.url()}@{commit[:10]}")


def test_an_empty_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "repo.git")
    with serve(tmp_path) as server:
        for revision in ("", "@main", "@HEAD"):
            with pytest.raises(UnknownRevisionError):
                pin_of(server.url() + revision)
        with pytest.raises(CommitNotServedError):
            pin_of(f"{server.url()}@{UNKNOWN}")


@pytest.mark.parametrize("options", [EVERYTHING, NOTHING])
def test_a_large_file_is_refused_by_name_and_only_where_needed(
    make: Callable[..., str], tmp_path: Path, options: dict[str, str]
) -> None:
    make({"big": bytes(9_000), "small": "1\n", "other": "2\n", "third": "3\n"})
    with serve(tmp_path, options) as server:
        reader = DulwichGit(limits=GitLimits(file_bytes=5_000))
        with reader.open(RepoAddress.parse(server.url()), "main") as tree:
            assert tree.read("small") == b"1\n"
            with pytest.raises(FileTooLargeError) as caught:
                tree.prefetch(["small", "other", "big", "third"]) if options is EVERYTHING else tree.read("big")
            assert caught.value.faults[0].place == "big"
            assert "9,000" in str(caught.value)
            assert tree.read("third") == b"3\n"


@SERVERS
def test_an_answer_without_end_is_cut(
    make: Callable[..., str], tmp_path: Path, options: dict[str, str], protocol_2: bool
) -> None:
    commit = make({"noise": b"".join(sha1(b"%d" % n).digest() for n in range(3_000))})
    with serve(tmp_path, options, protocol_2=protocol_2) as server:
        reader = DulwichGit(limits=GitLimits(pack_bytes=50_000))
        opened = reader.open(RepoAddress.parse(server.url()), commit)
        with pytest.raises(PackTooLargeError, match="50,000"), opened as tree:
            tree.read("noise")
        assert len(read(f"{server.url()}@{commit}", "noise")) == 60_000


@pytest.mark.parametrize("protocol_2", [True, False])
def test_a_list_of_refs_without_end_is_cut(make: Callable[..., str], tmp_path: Path, protocol_2: bool) -> None:
    """A server may answer the prefix `refs/heads/main` with any number of refs that begin so."""
    commit = make({"a": "1\n"})
    commands = "".join(f"create refs/heads/main-{number:04} {commit}\n" for number in range(1000))
    git(tmp_path / "repo.git", "update-ref", "--stdin", stdin=commands.encode())
    with serve(tmp_path, protocol_2=protocol_2) as server:
        address = RepoAddress.parse(server.url())
        with (
            pytest.raises(RepositoryUnreachableError, match="list of refs longer than 20,000 bytes"),
            DulwichGit(limits=GitLimits(refs_bytes=20_000)).open(address, "main"),
        ):
            pass
        with DulwichGit(limits=GitLimits(refs_bytes=200_000)).open(address, "main") as tree:
            assert tree.pin.commit == commit


def test_login_reaches_the_server_and_nobody_else(make: Callable[..., str], tmp_path: Path) -> None:
    make({"a": "1\n"})
    with serve(tmp_path, login=("user", "p@ss/hunter22")) as server:
        target = server.url(login="user:p%40ss%2Fhunter22@")
        with DulwichGit().open(*parse_target(f"{target}@main")) as tree:
            assert tree.read("a") == b"1\n"
            assert tree.pin.url == server.url()
            assert "hunter22" not in repr(tree.pin)
        for address in (server.url(), server.url(login="user:wrong-hunter22@")):
            with pytest.raises(RepositoryUnreachableError, match="wants a login") as caught:
                pin_of(f"{address}@main")
            assert "hunter22" not in f"{caught.value} {caught.value.hint}"
        with pytest.raises(TrunchbuildError) as caught_any:
            pin_of(f"{target}@nowhere")
        assert "hunter22" not in f"{caught_any.value} {caught_any.value.hint}"


def test_login_does_not_follow_a_redirect_to_another_host(make: Callable[..., str], tmp_path: Path) -> None:
    make({"a": "1\n"})
    with serve(tmp_path) as real, serve(tmp_path, redirect={"moved": real.url("repo.git")}) as server:
        assert read(f"{server.url('moved', login='user:hunter22@')}@main", "a") == b"1\n"
        assert all("Authorization" not in headers for headers in real.headers)
        assert pin_of(f"{server.url('moved')}@main").url == server.url("moved")


def test_a_redirect_to_plain_http_elsewhere_is_refused(tmp_path: Path) -> None:
    with (
        serve(tmp_path, redirect={"moved": "http://example.invalid/repo.git"}) as server,
        pytest.raises(UsageError, match=r"plain http to `example\.invalid`"),
    ):
        pin_of(f"{server.url('moved')}@main")


def test_plain_http_elsewhere_is_refused_before_any_connection() -> None:
    with pytest.raises(UsageError, match="plain http"):
        pin_of("http://example.invalid/repo.git@main")


@pytest.mark.parametrize(
    ("status", "kind", "body", "error"),
    [
        (404, "text/plain", b"", RepositoryUnreachableError),
        (500, "text/plain", b"", RepositoryUnreachableError),
        (200, "text/html", b"<html>sign in</html>", UnsupportedRepositoryError),
        (200, "application/x-git-upload-pack-advertisement", b"nonsense", RepositoryUnreachableError),
        (200, "application/x-git-upload-pack-advertisement", b"", RepositoryUnreachableError),
        (200, "application/x-git-upload-pack-advertisement", b"000eversion 2\n0000", RepositoryUnreachableError),
    ],
)
def test_answers_that_are_none(
    tmp_path: Path, status: int, kind: str, body: bytes, error: type[TrunchbuildError]
) -> None:
    with serve(tmp_path, answer={"refs": (status, kind, body)}) as server:
        for revision in ("main", UNKNOWN):
            with pytest.raises(error) as caught:
                pin_of(f"{server.url()}@{revision}")
            assert caught.value.faults[0].place == server.url()


def test_nobody_listens() -> None:
    with pytest.raises(RepositoryUnreachableError, match="refused") as caught:
        pin_of("http://127.0.0.1:9/repo.git@main")
    assert caught.value.exit_code == ExitCode.MACHINE


def _pack_answer(pack: bytes) -> bytes:
    """A fetch answer of protocol 2 by hand (`man gitprotocol-v2`): the section's name, then side band 1."""

    def line(data: bytes) -> bytes:
        return b"%04x" % (len(data) + 4) + data

    return line(b"packfile\n") + line(b"\x01" + pack) + b"0000"


def _forged(server: GitHttpServer, pack: bytes) -> None:
    """From now on every fetch is answered with `pack`; refs still come from Git."""
    server.fetch_answer = _pack_answer(pack)


def _pack_of(repo: Path, *ids: str) -> bytes:
    command = ["git", "-C", str(repo), "pack-objects", "--stdout", "--quiet"]
    return subprocess.run(
        command, input="\n".join(ids).encode(), env=environment(), capture_output=True, check=True
    ).stdout


@pytest.mark.parametrize("harm", ["cut", "flipped", "unrelated", "empty", "no pack", "bomb", "lying size"])
def test_a_server_that_sends_another_pack(make: Callable[..., str], tmp_path: Path, harm: str) -> None:
    """Whatever comes, the commit is the one asked for, or there is an error."""
    repo = tmp_path / "repo.git"
    commit = make({"a": "1\n" * 500})
    tree = git(repo, "rev-parse", f"{commit}^{{tree}}")
    blob = git(repo, "rev-parse", f"{commit}:a")
    good = _pack_of(repo, commit, tree, blob)
    other = make_repo(tmp_path / "other.git", {"a": "other\n"}, bare=True)
    packs = {
        "cut": good[: len(good) // 2],
        "flipped": good[:40] + bytes([good[40] ^ 1]) + good[41:],
        "unrelated": _pack_of(tmp_path / "other.git", other),
        "empty": b"PACK" + (2).to_bytes(4) + bytes(4) + sha1(b"PACK" + (2).to_bytes(4) + bytes(4)).digest(),
        "no pack": b"nonsense",
        "bomb": _one_object_pack(600 << 20, b"x"),
        "lying size": _one_object_pack(3, b"much more than three bytes"),
    }
    with serve(tmp_path) as server:
        assert read(f"{server.url()}@{commit}", "a") == b"1\n" * 500
        _forged(server, good)
        assert read(f"{server.url()}@{commit}", "a") == b"1\n" * 500
        _forged(server, packs[harm])
        with pytest.raises((CommitNotServedError, CorruptRepositoryError, FileTooLargeError)) as caught:
            read(f"{server.url()}@{commit}", "a")
        assert caught.value.exit_code in {ExitCode.BAD_INPUT, ExitCode.MACHINE}


def _one_object_pack(stated: int, content: bytes) -> bytes:
    size, head = stated >> 4, [0x30 | stated & 15]
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    body = b"PACK" + (2).to_bytes(4) + (1).to_bytes(4) + bytes(head) + zlib.compress(content)
    return body + sha1(body).digest()


def test_a_blob_that_a_server_forges(make: Callable[..., str], tmp_path: Path) -> None:
    """The commit and its trees are right; the file's content is not."""
    repo = tmp_path / "repo.git"
    commit = make({"a": "1\n"})
    make_repo(tmp_path / "other.git", {"a": "forged\n"}, bare=True)
    with serve(tmp_path) as server, DulwichGit().open(RepoAddress.parse(server.url()), commit) as tree:
        _forged(server, _pack_of(tmp_path / "other.git", git(tmp_path / "other.git", "rev-parse", "main:a")))
        with pytest.raises(CommitNotServedError, match="not the file's content"):
            tree.read("a")
        server.fetch_answer = None
        assert tree.read("a") == b"1\n"
    assert git(repo, "cat-file", "blob", f"{commit}:a") == "1"


def test_a_server_that_refuses_blobs_gives_them_with_their_commit(make: Callable[..., str], tmp_path: Path) -> None:
    commit = make({"a": "1\n", "b": "2\n"})
    with serve(tmp_path) as server, DulwichGit().open(RepoAddress.parse(server.url()), commit) as tree:
        server.fetch_answer, server.fetch_answers_left = b"0032ERR upload-pack: not our ref, says this test\n", 1
        assert tree.read("a") == b"1\n"
        assert server.fetch_answers_left == 0
        before = len(server.requests)
        assert tree.read("b") == b"2\n"
        assert len(server.requests) == before


def ssh_stub(log: Path, protocol: str) -> str:
    """A program in the place of `ssh` that runs `git-upload-pack` here."""
    return shlex.join([sys.executable, str(Path(__file__).parents[1] / "servers/ssh_stub.py"), str(log), protocol])


@pytest.mark.parametrize("protocol", ["0", "2"])
@pytest.mark.parametrize(
    "form", ["ssh://git@host.invalid{path}", "git@host.invalid:{path}", "ssh://host.invalid:2222{path}"]
)
def test_ssh(make: Callable[..., str], tmp_path: Path, form: str, protocol: str) -> None:
    first = make({"a": "1\n"})
    add_commit(tmp_path / "repo.git", {"a": "2\n"})
    log = tmp_path / "ssh.log"
    address = RepoAddress.parse(form.format(path=tmp_path / "repo.git"))
    for revision, content in ((first, b"1\n"), ("main", b"2\n")):
        with DulwichGit(ssh_command=ssh_stub(log, protocol)).open(address, revision) as tree:
            assert tree.read("a") == content
            assert tree.pin.commit == git(tmp_path / "repo.git", "rev-parse", revision)
            assert "git@" not in str(tree.pin.url)
    calls = [json.loads(line) for line in log.read_text().splitlines()]
    host = "git@host.invalid" if "git@" in form else "host.invalid"
    assert all(call[-2:] == [host, f"git-upload-pack '{tmp_path / 'repo.git'}'"] for call in calls)
    assert all(("2222" in call) == ("2222" in form) for call in calls)


@pytest.mark.parametrize("form", ["git@host.invalid:{}", "git@host.invalid:~me/{}", "git@host.invalid:/srv/{}"])
def test_the_path_goes_over_ssh_as_git_sends_it(form: str, tmp_path: Path) -> None:
    """GitHub, GitLab and others know `owner/name.git`, not `~/owner/name.git`."""
    text, command = form.format("owner/name.git"), ssh_stub(tmp_path / "git.log", "0")
    with pytest.raises(RuntimeError, match="ls-remote"):
        git(tmp_path, "-c", f"core.sshCommand={command}", "ls-remote", text)
    reader = DulwichGit(ssh_command=ssh_stub(tmp_path / "ours.log", "0"))
    with pytest.raises(RepositoryUnreachableError), reader.open(RepoAddress.parse(text), "main"):
        pass
    sent, expected = (
        {json.loads(line)[-1] for line in (tmp_path / name).read_text().splitlines() if "git-upload-pack" in line}
        for name in ("ours.log", "git.log")
    )
    assert sent == expected
    assert all("owner/name.git'" in command for command in sent)


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_server_that_gives_tips_only(make: Callable[..., str], tmp_path: Path, object_format: str) -> None:
    """Commits that are no tip come through wider fetches: of branches and tags, then of all refs."""
    repo = tmp_path / "repo.git"
    first = make({"a": "1\n"}, object_format=object_format)
    commits = [first, *(add_commit(repo, {"a": f"{number}\n"}) for number in (2, 3, 4))]
    git(repo, "update-ref", "refs/pull/1/head", commits[3])
    git(repo, "update-ref", "refs/heads/main", commits[1])
    reader = DulwichGit(ssh_command=ssh_stub(tmp_path / "ssh.log", "0"))
    address = RepoAddress.parse(f"ssh://host.invalid{repo}")
    for number, commit in enumerate(commits, 1):
        with reader.open(address, commit) as tree:
            assert tree.read("a") == b"%d\n" % number
    git(repo, "update-ref", "-d", "refs/pull/1/head")
    opened = reader.open(address, commits[2])
    with pytest.raises(CommitNotServedError, match=commits[2]), opened:
        pass


def test_ssh_that_fails(tmp_path: Path) -> None:
    for command in ("false", "sh -c 'echo ERROR: no such repository >&2; exit 1' --", str(tmp_path / "nowhere")):
        opened = DulwichGit(ssh_command=command).open(RepoAddress.parse("git@host.invalid:x.git"), "main")
        with pytest.raises(RepositoryUnreachableError), opened:
            pass
