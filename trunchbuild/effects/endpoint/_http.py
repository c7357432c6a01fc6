"""Calls over HTTP by aiohttp. Why not another client: `docs/decisions/0008-http-client.md`."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import NoReturn

import aiohttp

import trunchbuild
from trunchbuild.core.call_policy import backoff, http_failure, is_retried, refused_parameter, retry_after
from trunchbuild.core.json_types import Json
from trunchbuild.core.replies import Failure, Step, read_chat_reply
from trunchbuild.effects.endpoint._gate import RateGate
from trunchbuild.effects.endpoint._redact import Redactor, secrets_of_url
from trunchbuild.effects.endpoint.api import (
    Attempt,
    CallLimits,
    Endpoint,
    Exchange,
    RefusedParameterError,
    RetryLaterError,
    Target,
    Timing,
)

_KEEP_ALIVE_SECONDS = 30.0
_CONNECT_SECONDS = 30.0
_LARGE_BODY = 1 << 20
"""From here on aiohttp wants a body as a file, and sends it in pieces."""


class _TooLongError(Exception):
    """The reply exceeds what one reply may hold."""


class HttpEndpoints:
    """`Endpoints` over HTTP/1.1."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing

    def connect(self, target: Target, limits: CallLimits) -> AbstractAsyncContextManager[Endpoint]:
        """See `Endpoints`."""
        return _connected(target, limits, self._timing)


@asynccontextmanager
async def _connected(target: Target, limits: CallLimits, timing: Timing) -> AsyncIterator[Endpoint]:
    headers = {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "user-agent": f"trunchbuild/{trunchbuild.__version__}",
    }
    if target.api_key:
        headers["authorization"] = f"Bearer {target.api_key}"
    headers |= target.headers
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=limits.connections, keepalive_timeout=_KEEP_ALIVE_SECONDS),
        timeout=aiohttp.ClientTimeout(total=limits.total_seconds, sock_connect=_CONNECT_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        proxy=target.proxy,
    ) as session:
        yield _HttpEndpoint(session, target, limits, timing)


class _HttpEndpoint:
    def __init__(self, session: aiohttp.ClientSession, target: Target, limits: CallLimits, timing: Timing) -> None:
        self._session = session
        self._url = target.base_url.rstrip("/") + "/chat/completions"
        self._limits = limits
        self._timing = timing
        self._gate = RateGate(timing, limits.calls_per_minute)
        self._redactor = Redactor(
            [*filter(None, [target.api_key]), *target.headers.values(), *secrets_of_url(target.proxy)]
        )

    async def ask(self, body: bytes) -> Exchange:
        """See `Endpoint`."""
        retried: list[Attempt] = []
        while True:
            await self._gate.enter()
            exchange, error, wait = await self._try(body)
            if not isinstance(exchange.step, Failure):
                break
            refused = refused_parameter(exchange.http_status, error, json.loads(body)) if error else None
            if refused is not None:
                raise RefusedParameterError(
                    f"the endpoint refuses the parameter `{refused.name}`",
                    got=exchange.step.message,
                    hint=refused.cure,
                )
            if len(retried) >= self._limits.max_retries or not is_retried(exchange.http_status, exchange.step, error):
                break
            retried.append(Attempt(exchange.step.message, exchange.latency_ms))
            await self._wait(exchange, wait, len(retried) - 1)
        return _with_retries(exchange, retried) if retried else exchange

    async def _wait(self, exchange: Exchange, asked: float | None, retry: int) -> None:
        """Wait before a retry: as long as the endpoint asks, else by our own rule."""
        if asked is not None and asked > self._limits.retry_after_cap:
            self._stop(asked, exchange)
        seconds = backoff(retry, self._timing.jitter()) if asked is None else asked
        if exchange.http_status == HTTPStatus.TOO_MANY_REQUESTS:
            self._gate.too_many(seconds)
        await self._timing.sleep(seconds)

    def _stop(self, asked: float, exchange: Exchange) -> NoReturn:
        moment = self._timing.now() + timedelta(seconds=min(asked, 10 * 365 * 86_400))
        assert isinstance(exchange.step, Failure)
        raise RetryLaterError(
            "the endpoint asks to come back later than a run waits",
            expected=f"at most {self._limits.retry_after_cap:g} s",
            got=f"{asked:.0f} s ({exchange.step.message})",
            hint=f"all replies so far are kept; run the same command after {moment:%Y-%m-%dT%H:%M:%SZ}",
        )

    async def _try(self, body: bytes) -> tuple[Exchange, Json, float | None]:
        """One try: the exchange, its error body, and how long the endpoint asks to wait."""
        started, begin = self._timing.now(), self._timing.monotonic()
        status: int | None = None
        raw: bytes | None = None
        error: Json = None
        usage: Json = None
        wait: float | None = None
        step: Step
        try:
            data = body if len(body) < _LARGE_BODY else io.BytesIO(body)
            async with self._session.post(self._url, data=data, allow_redirects=False) as response:
                status = response.status
                raw = self._redactor.clean(await self._read(response))
                wait = retry_after(response.headers.get("retry-after"), self._timing.now())
        except (aiohttp.ClientError, OSError, TimeoutError, UnicodeError, _TooLongError) as problem:
            step, raw, status = self._transport_failure(problem), None, None
        else:
            if status != HTTPStatus.TOO_MANY_REQUESTS:
                self._gate.accepted()
            if status == HTTPStatus.OK:
                step, usage = read_chat_reply(raw)
                if isinstance(step, Failure) and step.kind == "error_body":
                    error = json.loads(raw)
            else:
                step, error = http_failure(status, raw)
        latency = (self._timing.monotonic() - begin) * 1000
        return Exchange(step, usage, status, raw, started, latency), error, wait

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """The whole body; no pause in it may exceed the idle time-out."""
        content = response.content
        if content.is_eof() and content.total_bytes <= self._limits.max_reply_bytes:
            return content.read_nowait(-1)  # it came in one piece with its head: nothing to wait for
        chunks: list[bytes] = []
        size = 0
        while not content.at_eof():
            async with asyncio.timeout(self._limits.idle_seconds):
                chunk = await content.readany()
            size += len(chunk)
            if size > self._limits.max_reply_bytes:
                raise _TooLongError
            chunks.append(chunk)
        return b"".join(chunks)

    def _transport_failure(self, problem: Exception) -> Failure:
        limits = self._limits
        if isinstance(problem, TimeoutError):
            text = f"timed out (total {limits.total_seconds:g} s, idle {limits.idle_seconds:g} s)"
        elif isinstance(problem, _TooLongError):
            text = f"the reply is longer than {limits.max_reply_bytes} bytes"
        else:
            text = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
        return Failure("transport", self._redactor.clean_text(" ".join(text.split())))


def _with_retries(exchange: Exchange, retried: list[Attempt]) -> Exchange:
    return Exchange(
        step=exchange.step,
        usage=exchange.usage,
        http_status=exchange.http_status,
        body=exchange.body,
        started=exchange.started,
        latency_ms=exchange.latency_ms,
        retried=tuple(retried),
    )
