"""A real smart HTTP server for tests: Git's own `git http-backend` (CGI) behind a threaded loopback server.

dulwich's server is no use here: it gives no commit by id.
"""

from __future__ import annotations

import base64
import functools
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.repos import environment, git

EVERYTHING: Mapping[str, str] = {"uploadpack.allowFilter": "true", "uploadpack.allowAnySHA1InWant": "true"}
"""What public hosts allow."""
NOTHING: Mapping[str, str] = {
    "uploadpack.allowFilter": "false",
    "uploadpack.allowAnySHA1InWant": "false",
    "uploadpack.allowReachableSHA1InWant": "false",
    "uploadpack.allowTipSHA1InWant": "false",
}


@dataclass
class GitHttpServer:
    """A running server; `url("name.git")` is where a repository below `root` is."""

    root: Path
    port: int
    options: Mapping[str, str]
    protocol_2: bool = True
    """False: the server does not understand Git-Protocol, as one of before 2018; version 0 enforces the want rules."""
    login: tuple[str, str] | None = None
    redirect: Mapping[str, str] = field(default_factory=dict)
    """First path part -> where to go instead."""
    answer: Mapping[str, tuple[int, str, bytes]] = field(default_factory=dict)
    """Last path part -> a fixed answer: status, content type, body."""
    fetch_answer: bytes | None = None
    """A fixed answer to fetches of protocol 2; refs still come from Git."""
    fetch_answers_left: int = 1_000_000
    """How often the fixed answer is given."""
    requests: list[str] = field(default_factory=list)
    """Method and path of every request, in order."""
    bodies: list[bytes] = field(default_factory=list)
    """Every request's body."""
    headers: list[Mapping[str, str]] = field(default_factory=list)

    def url(self, name: str = "repo.git", login: str = "") -> str:
        """The address of a repository."""
        return f"http://{login}127.0.0.1:{self.port}/{name}"

    def wants(self) -> list[str]:
        """Every object id asked for so far."""
        lines = b"".join(self.bodies).split(b"want ")[1:]
        return [line[:64].split(b"\n")[0].split(b" ")[0].decode() for line in lines]


@contextmanager
def serve(root: Path, options: Mapping[str, str] = EVERYTHING, **more: object) -> Iterator[GitHttpServer]:
    """Serve every repository below `root`; `options` are Git settings of the server."""
    state: list[GitHttpServer] = []

    class Handler(_Handler):
        server_state = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.append(GitHttpServer(root, server.server_port, options, **more))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state[0]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


class _Handler(BaseHTTPRequestHandler):
    server_state: list[GitHttpServer]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, *arguments: object) -> None:
        """Quiet."""

    def _serve(self) -> None:
        state = self.server_state[0]
        body = self._body()
        state.requests.append(f"{self.command} {self.path}")
        state.bodies.append(body)
        state.headers.append(dict(self.headers.items()))
        parts = urlsplit(self.path)
        first, last = parts.path.strip("/").split("/")[0], parts.path.rsplit("/", 1)[-1]
        if first in state.redirect:
            rest = self.path.lstrip("/").removeprefix(first)
            self._reply(302, {"Location": state.redirect[first] + rest}, b"")
        elif last in state.answer:
            status, kind, fixed = state.answer[last]
            self._reply(status, {"Content-Type": kind}, fixed)
        elif state.fetch_answer is not None and state.fetch_answers_left > 0 and b"command=fetch" in body:
            state.fetch_answers_left -= 1
            self._reply(200, {"Content-Type": "application/x-git-upload-pack-result"}, state.fetch_answer)
        elif state.login is not None and self.headers.get("Authorization") != _basic(state.login):
            self._reply(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"")
        else:
            self._reply(*_backend(state, self, parts.path, parts.query, body))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _basic(login: tuple[str, str]) -> str:
    return "Basic " + base64.b64encode(":".join(login).encode()).decode()


@functools.cache
def _program() -> str:
    return str(Path(git(Path.cwd(), "--exec-path")) / "git-http-backend")


def _backend(
    state: GitHttpServer, request: BaseHTTPRequestHandler, path: str, query: str, body: bytes
) -> tuple[int, dict[str, str], bytes]:
    """Run the CGI and read its answer (RFC 3875)."""
    variables = environment() | {
        "GIT_PROJECT_ROOT": str(state.root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": request.command,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "REMOTE_ADDR": "127.0.0.1",
        "GIT_CONFIG_COUNT": str(len(state.options)),
    }
    for number, (name, value) in enumerate(state.options.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    if state.protocol_2 and "Git-Protocol" in request.headers:
        variables["GIT_PROTOCOL"] = request.headers["Git-Protocol"]
    if request.headers.get("Content-Encoding"):
        variables["HTTP_CONTENT_ENCODING"] = request.headers["Content-Encoding"]
    done = subprocess.run([_program()], input=body, env=variables, capture_output=True, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(headers.pop("Status", "200 OK").split(" ")[0])
    return status, headers, content
