"""Endpoints in memory: each call is answered by a function of its body."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from trunchbuild.core.replies import Failure, Reply, Step
from trunchbuild.effects.endpoint.api import CallLimits, Endpoint, Exchange, Target

Answerer = Callable[[dict[str, Any]], Step]


class FakeEndpoints:
    """`Endpoints` that answer by `answer(body)`; `bodies` holds what was asked. It may raise an EndpointError."""

    def __init__(self, answer: Answerer) -> None:
        self.answer = answer
        self.bodies: list[bytes] = []
        self.connected = 0

    def connect(self, target: Target, limits: CallLimits) -> AbstractAsyncContextManager[Endpoint]:
        self.connected += 1
        return self._connected()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Endpoint]:
        yield self

    async def ask(self, body: bytes) -> Exchange:
        self.bodies.append(body)
        await asyncio.sleep(0)
        step = self.answer(json.loads(body))
        started = datetime(2027, 1, 1, tzinfo=UTC)
        if isinstance(step, Failure):
            return Exchange(step, None, step.http_status, None, started, 1.0)
        usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
        return Exchange(step, usage, 200, raw_reply(step), started, 1.0)


def raw_reply(reply: Reply) -> bytes:
    """The body of a chat completion that holds this reply."""
    message: dict[str, Any] = {"content": reply.content}
    if reply.thinking is not None:
        message["reasoning_content"] = reply.thinking
    if reply.refusal is not None:
        message["refusal"] = reply.refusal
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in reply.tool_calls
        ]
    return json.dumps({"choices": [{"message": message, "finish_reason": reply.finish_reason}]}).encode()
