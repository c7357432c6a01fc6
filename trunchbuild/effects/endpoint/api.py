"""OpenAI-compatible endpoints: one call in, what came of it out, with retries, time-outs and a shared rate gate."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from trunchbuild.core.call_policy import MAX_RETRIES, RETRY_AFTER_CAP
from trunchbuild.core.json_types import Json
from trunchbuild.core.replies import Step
from trunchbuild.errors import ExitCode, MachineError


@dataclass(frozen=True, slots=True)
class Target:
    """Where calls go. The only holder of secrets; its repr shows none."""

    base_url: str
    """Without user info or query; `/chat/completions` is added."""
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers; their values are secrets."""
    proxy: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How calls are made; nothing of this changes what is asked."""

    connections: int = 16
    total_seconds: float = 600.0
    """For one try, from sending to the last byte."""
    idle_seconds: float = 120.0
    """Between two pieces of a reply once its head is here."""
    calls_per_minute: float | None = None
    max_retries: int = MAX_RETRIES
    retry_after_cap: float = RETRY_AFTER_CAP
    max_reply_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try that came before the one that counts."""

    outcome: str
    """`HTTP 503: busy`, `timed out after 600 s` ..., redacted."""
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Exchange:
    """How a call ended, after all retries."""

    step: Step
    usage: Json
    """As the endpoint states it; None is unknown, never zero."""
    http_status: int | None
    body: bytes | None
    """The raw reply, redacted; None where none came."""
    started: datetime
    latency_ms: float
    """Of the try that counts."""
    retried: tuple[Attempt, ...] = ()
    """The tries before it. A try that was given up stays given up: its late reply is never read."""


class Timing(Protocol):
    """What an endpoint needs of a clock; seconds."""

    def now(self) -> datetime:
        """The current time, zone UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def jitter(self) -> float:
        """A number in [0, 1)."""
        ...


class Endpoint(Protocol):
    """One endpoint with its connections."""

    async def ask(self, body: bytes) -> Exchange:
        """Send one request body and wait for its reply. A failure of this call is data in the exchange.

        Raises:
            RefusedParameterError: The endpoint does not take a setting; no other call can do better.
            RetryLaterError: It asks to come back later than the cap allows to wait.
        """
        ...


class Endpoints(Protocol):
    """Opens endpoints."""

    def connect(self, target: Target, limits: CallLimits) -> AbstractAsyncContextManager[Endpoint]:
        """Open one shared client; leaving the context gives up what is under way and closes all connections."""
        ...


class EndpointError(MachineError):
    """The endpoint stands in the way of the whole run. What was counted stays; the same command goes on from there."""

    slug, exit_code = "endpoint", ExitCode.MACHINE


class RefusedParameterError(EndpointError):
    """The endpoint refuses a setting of every request; nothing is changed silently."""

    slug, exit_code = "refused-parameter", ExitCode.MACHINE


class RetryLaterError(EndpointError):
    """The endpoint asks to wait longer than the cap."""

    slug, exit_code = "retry-later", ExitCode.MACHINE
