"""A scripted OpenAI-compatible endpoint: real HTTP on loopback, each reply decided by the test."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    number: int
    """Counts the requests with this very body, from 0."""

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)

    @property
    def prompt(self) -> str:
        return self.body["messages"][-1]["content"]


@dataclass(frozen=True, slots=True)
class Served:
    """One reply. `delay` passes before its head, `pause` in the middle of its body; `drop` closes without a reply."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0
    pause: float = 0
    drop: bool = False


Script = Callable[[Asked], Served]


def completion(message: Mapping[str, Any], finish: str | None = "stop", **more: Any) -> Served:
    """HTTP 200 with one choice; `more` are members of the body."""
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return Served(body=json.dumps({"object": "chat.completion", "choices": [choice], **more}).encode())


def says(text: str | None, finish: str | None = "stop", **message: Any) -> Served:
    """An ordinary reply with usage."""
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    return completion({"content": text, **message}, finish, usage=usage)


def fails(status: int, error: object = None, **headers: str) -> Served:
    """An HTTP error with an error body; `Retry_After="3"` is the header Retry-After."""
    body = json.dumps({"error": error or {"message": "scripted", "type": "test"}}).encode()
    return Served(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is part of many tests."""


class ModelEndpoint:
    """Serves a script until the context ends; `asked` holds every request in the order of arrival."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._lock = threading.Lock()
        self._seen: dict[bytes, int] = {}
        self.asked: list[Asked] = []
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def serve(self, path: str, headers: Mapping[str, str], raw: bytes) -> Served:
        with self._lock:
            number = self._seen.get(raw, 0)
            self._seen[raw] = number + 1
            asked = Asked(path, headers, raw, number)
            self.asked.append(asked)
        return self._script(asked)


def _handler(endpoint: ModelEndpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            served = endpoint.serve(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
            time.sleep(served.delay)
            if served.drop:
                self.close_connection = True
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)
                return
            with suppress(OSError):
                self._send(served)

        def _send(self, served: Served) -> None:
            self.send_response(served.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(served.body)))
            for name, value in served.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if served.pause:
                half = len(served.body) // 2
                self.wfile.write(served.body[:half])
                self.wfile.flush()
                time.sleep(served.pause)
                self.wfile.write(served.body[half:])
            else:
                self.wfile.write(served.body)

        def log_message(self, *args: object) -> None:
            """Quiet."""

    return Handler
