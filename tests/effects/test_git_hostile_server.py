"""Servers that mean ill or never end: each is left with an error of ours, and nothing of them goes on."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.git_http import GitHttpServer, serve
from tests.support.repos import make_repo
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git.api import CommitNotServedError, RepositoryUnreachableError

STUB = str(Path(__file__).parents[1] / "servers/ssh_stub.py")
SHORT = GitLimits(idle_seconds=1.0, refs_bytes=1 << 20)
UNKNOWN = "0123456789abcdef0123456789abcdef01234567"


def failure(address: str, limits: GitLimits, *, ssh_command: str | None = None, revision: str = "main") -> str:
    opened = DulwichGit(ssh_command=ssh_command, limits=limits).open(RepoAddress.parse(address), revision)
    with pytest.raises(RepositoryUnreachableError) as caught, opened:
        pass
    return str(caught.value)


@pytest.mark.parametrize("revision", ["main", UNKNOWN])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("silent", "not a byte for 1 s"),
        ("deaf", "not a byte for 1 s"),
        ("noisy", "not a byte for 1 s"),
        ("refs", "a list of refs longer than 1,048,576 bytes"),
        ("told", "go \x1b[31maway"),
    ],
)
def test_ssh_that_never_ends(tmp_path: Path, kind: str, said: str, revision: str) -> None:
    """The twin, an `ssh` that answers, is `test_ssh` with the same stub."""
    log = tmp_path / "ssh.log"
    command = shlex.join([sys.executable, STUB, str(log), kind])
    limits = GitLimits(idle_seconds=30.0) if kind == "told" else SHORT
    limits = GitLimits(idle_seconds=10.0, refs_bytes=1 << 20) if kind == "refs" else limits
    assert said in failure("git@host.invalid:x.git", limits, ssh_command=command, revision=revision)
    # A slow machine may give up before the program has begun.
    for line in log.read_text().splitlines() if log.exists() else ():
        with pytest.raises(ProcessLookupError):
            os.kill(int(line.rstrip("]").rsplit(" ", 1)[1]), 0)


@contextmanager
def listening(answer: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    """A server that accepts and then does what it wants, in as many threads as there are callers; its port."""
    over = threading.Event()
    threads: list[threading.Thread] = []
    server = socket.create_server(("127.0.0.1", 0))

    def handle(connection: socket.socket) -> None:
        with connection:
            try:
                answer(connection, over)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=handle, args=(connection,)))
            threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield server.getsockname()[1]
    finally:
        over.set()
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        for thread in (acceptor, *threads):
            thread.join()


def _silence(_connection: socket.socket, over: threading.Event) -> None:
    over.wait()


@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs OpenSSH's client")
def test_a_host_that_accepts_and_says_nothing_to_ssh() -> None:
    """The option reaches the real `ssh`, which gives up by itself."""
    with listening(_silence) as port:
        limits = GitLimits(connect_seconds=1.0)
        said = failure(f"ssh://127.0.0.1:{port}/x.git", limits, ssh_command="ssh -F /dev/null")
    assert "timed out" in said.lower()


def _drip_in_head(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while not over.wait(0.05):
        connection.sendall(b"x")


def _drip_in_body(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nConnection: close\r\n\r\nfff0"
    )
    while not over.wait(0.05):
        connection.sendall(b"x")


def _redirect_without_end(connection: socket.socket, over: threading.Event) -> None:
    """urllib3 reads a redirect's body to its end before it goes on."""
    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nConnection: close\r\n\r\n")
    while not over.is_set():
        connection.sendall(b"x" * 1000)


@pytest.mark.parametrize("answer", [_drip_in_head, _drip_in_body, _redirect_without_end])
def test_http_that_never_ends(answer: Callable[[socket.socket, threading.Event], None]) -> None:
    """Every read gets its byte in time; only the whole does not end."""
    with listening(answer) as port:
        said = failure(f"http://127.0.0.1:{port}/x.git", GitLimits(idle_seconds=60.0, talk_seconds=0.5))
    assert "does not end within" in said


def test_http_that_is_silent_is_asked_once() -> None:
    asked = []

    def silence(_connection: socket.socket, over: threading.Event) -> None:
        asked.append(1)
        over.wait()

    with listening(silence) as port:
        said = failure(f"http://127.0.0.1:{port}/x.git", GitLimits(idle_seconds=0.3))
    assert ("timed out" in said.lower(), len(asked)) == (True, 1)


def _line(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[GitHttpServer, str]]:
    commit = make_repo(tmp_path / "repo.git", {"a": "1\n"}, bare=True)
    with serve(tmp_path) as running:
        yield running, commit


def test_objects_are_not_fetched_from_where_a_server_says(server: tuple[GitHttpServer, str]) -> None:
    """`packfile-uris` (`man gitprotocol-v2`) may name any host, this machine's own services among them."""
    running, commit = server
    called = []

    def note(connection: socket.socket, _over: threading.Event) -> None:
        called.append(connection)

    with DulwichGit().open(RepoAddress.parse(running.url()), commit) as tree:
        assert tree.read("a") == b"1\n"
    with listening(note) as port:
        elsewhere = f"https://127.0.0.1:{port}/pack {'0' * 40}".encode()
        for uri in (elsewhere.replace(b" ", b" sha1 "), b"file:///etc/hostname sha1 " + b"0" * 40):
            running.fetch_answer = _line(b"packfile-uris\n") + _line(uri + b"\n") + b"0001" + _line(b"packfile\n")
            opened = DulwichGit().open(RepoAddress.parse(running.url()), commit)
            with pytest.raises(RepositoryUnreachableError), opened:
                pass
    assert called == []
    assert all(b"packfile-uris" not in body for body in running.bodies)


def test_messages_without_an_object_end(server: tuple[GitHttpServer, str]) -> None:
    """Progress is not kept, and still may not go on for ever; as much of it between objects is ordinary."""
    running, commit = server
    running.fetch_answer = _line(b"packfile\n") + _line(b"\x02" + b"wait " * 10_000) * 100 + b"0000"
    opened = DulwichGit(limits=GitLimits(refs_bytes=1 << 20)).open(RepoAddress.parse(running.url()), commit)
    with pytest.raises((RepositoryUnreachableError, CommitNotServedError)), opened:
        pass
    running.fetch_answers_left = 1
    with DulwichGit(limits=GitLimits(refs_bytes=8 << 20)).open(RepoAddress.parse(running.url()), commit) as tree:
        assert tree.read("a") == b"1\n"
