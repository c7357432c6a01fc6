"""An instant OpenAI-compatible endpoint on loopback, for measuring the harness and not a model.

`python benchmarks/loopback_endpoint.py [PORT]` prints its base URL and serves until it is killed. Every request to
`/v1/chat/completions` gets the same reply at once. A bare asyncio protocol: on a small machine the endpoint shares the
cores with what is being measured, so it must cost next to nothing.
"""

from __future__ import annotations

import asyncio
import sys

BODY = (
    b'{"id":"chatcmpl-0","object":"chat.completion","created":0,"model":"loopback","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Six times seven.\\n#### 42"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":90,"completion_tokens":9,"total_tokens":99}}'
)
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)
LENGTH = b"content-length:"


class Connection(asyncio.Protocol):
    """One keep-alive connection; requests need a `Content-Length`."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.waiting = b""

    def data_received(self, data: bytes) -> None:
        self.waiting = self.waiting + data if self.waiting else data
        while True:
            end = self.waiting.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.waiting[:end].lower()
            at = head.find(LENGTH)
            length = int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.waiting) < end + 4 + length:
                return
            self.waiting = self.waiting[end + 4 + length :]
            self.transport.write(REPLY)


async def serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", port, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
