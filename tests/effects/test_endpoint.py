"""Calls over real HTTP on loopback; time is a fake clock's where waiting would be long."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.fakes.clock import FakeClock
from tests.servers.model_endpoint import Asked, ModelEndpoint, Script, Served, fails, says
from trunchbuild.core.replies import Failure, Reply
from trunchbuild.effects.clock._system import SystemClock
from trunchbuild.effects.endpoint._gate import RateGate
from trunchbuild.effects.endpoint._http import HttpEndpoints
from trunchbuild.effects.endpoint._redact import Redactor, secrets_of_url
from trunchbuild.effects.endpoint.api import CallLimits, Exchange, RefusedParameterError, RetryLaterError, Target

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "1 + 1?"}], "max_tokens": 9}).encode()
KEY = "sk-canary-71"
USUAL = CallLimits()


def ask(
    script: Script,
    *,
    bodies: Sequence[bytes] = (BODY,),
    clock: FakeClock | SystemClock | None = None,
    limits: CallLimits = USUAL,
    key: str | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[list[Exchange], list[Asked]]:
    """Ask the bodies one after the other."""

    async def go(base_url: str) -> list[Exchange]:
        target = Target(base_url, key, headers or {})
        async with HttpEndpoints(clock or FakeClock()).connect(target, limits) as endpoint:
            return [await endpoint.ask(body) for body in bodies]

    with ModelEndpoint(script) as server:
        return asyncio.run(go(server.base_url)), server.asked


def one(script: Script, **more: object) -> Exchange:
    (exchange,), _ = ask(script, **more)  # type: ignore[arg-type]
    return exchange


def in_turn(*served: Served) -> Script:
    """The nth request gets the nth reply, and the last one again."""
    return lambda asked: served[min(asked.number, len(served) - 1)]


def test_a_reply_and_the_exact_request() -> None:
    (exchange,), asked = ask(lambda _: says("2"), key=KEY, headers={"X-Team": "canary-72"})
    assert exchange.step == Reply("2", finish_reason="stop")
    assert exchange.usage == {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    assert exchange.retried == ()
    assert asked[0].raw == BODY
    assert asked[0].path == "/v1/chat/completions"
    assert asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert asked[0].headers["x-team"] == "canary-72"
    assert asked[0].headers["content-type"] == "application/json"


def test_without_a_key_no_authorization_is_sent() -> None:
    _, asked = ask(lambda _: says("2"))
    assert "authorization" not in asked[0].headers


def test_200_with_an_error_body_is_asked_again() -> None:
    """R60: one result, one retry recorded."""
    busy = Served(body=b'{"error":{"code":502,"message":"busy"}}')
    (exchange,), asked = ask(in_turn(busy, says("2")))
    assert exchange.step == Reply("2", finish_reason="stop")
    assert [attempt.outcome for attempt in exchange.retried] == ["HTTP 200 with an error: busy"]
    assert len(asked) == 2


def test_an_error_body_that_stays_is_a_failure() -> None:
    """R60's twin: after the last retry it is failed, never an answer."""
    (exchange,), asked = ask(lambda _: Served(body=b'{"error":{"code":502,"message":"busy"}}'))
    assert isinstance(exchange.step, Failure)
    assert len(asked) == 6


def test_retries_wait_longer_and_longer() -> None:
    """Exponential, full jitter: with a jitter of a half, halves of 0.5, 1, 2, 4, 8 seconds."""
    clock = FakeClock()
    one(lambda _: fails(503), clock=clock)
    assert clock.slept == [0.25, 0.5, 1, 2, 4]


def test_a_dropped_connection_is_asked_again() -> None:
    exchange = one(in_turn(Served(drop=True), says("2")))
    assert exchange.step == Reply("2", finish_reason="stop")
    assert len(exchange.retried) == 1


def test_an_endpoint_that_is_not_there() -> None:
    async def go() -> Exchange:
        async with HttpEndpoints(FakeClock()).connect(Target("http://127.0.0.1:9/v1"), CallLimits()) as endpoint:
            return await endpoint.ask(BODY)

    exchange = asyncio.run(go())
    assert isinstance(exchange.step, Failure)
    assert exchange.step.kind == "transport"
    assert len(exchange.retried) == 5


@pytest.mark.parametrize(
    ("header", "wait"),
    [("3", 3.0), ("Fri, 01 Jan 2027 00:00:05 GMT", 5.0), ("-3", 0.25), ("soon", 0.25)],
)
def test_retry_after(header: str, wait: float) -> None:
    """R62: seconds and dates are obeyed, nonsense falls back to our own waiting time."""
    clock = FakeClock()
    exchange = one(in_turn(fails(429, Retry_After=header), says("2")), clock=clock)
    assert exchange.step == Reply("2", finish_reason="stop")
    assert clock.slept[0] == pytest.approx(wait)


def test_retry_after_above_the_cap_stops_the_run() -> None:
    """R62: resumable, and it says when to come back; a day after the clock's midnight."""
    with pytest.raises(RetryLaterError) as caught:
        one(lambda _: fails(429, Retry_After="86400"))
    assert caught.value.hint is not None
    assert "2027-01-02T00:00:00Z" in caught.value.hint


def test_a_refused_parameter_stops_at_once() -> None:
    """R63: with the option that fixes it; nothing is changed and sent again."""
    error = {"code": "unsupported_parameter", "param": "max_tokens"}
    asked: list[Asked] = []

    def refuse(request: Asked) -> Served:
        asked.append(request)
        return fails(400, error)

    with pytest.raises(RefusedParameterError) as caught:
        ask(refuse)
    assert len(asked) == 1
    assert caught.value.hint is not None
    assert "--limit-field max_completion_tokens" in caught.value.hint


def test_other_400s_are_failures_of_one_call() -> None:
    """R58's single call; R63's twin."""
    (exchange,), asked = ask(lambda _: fails(400, {"message": "bad request"}))
    assert exchange.step == Failure("http", "HTTP 400: bad request", 400)
    assert len(asked) == 1


def test_total_time_out() -> None:
    """R70: the late reply of a try that was given up is never read; both tries are counted."""
    limits = CallLimits(total_seconds=0.2)
    late_then_early = in_turn(replace(says("late"), delay=0.6), says("early"))
    (exchange,), asked = ask(late_then_early, limits=limits, clock=SystemClock())
    assert exchange.step == Reply("early", finish_reason="stop")
    assert len(exchange.retried) == 1
    assert "timed out" in exchange.retried[0].outcome
    assert len(asked) == 2


def test_idle_time_out() -> None:
    """A body that stops in the middle ends the try; a slow one that goes on does not."""
    paused = Served(body=says("2").body, pause=0.5)
    short = one(lambda _: paused, limits=CallLimits(idle_seconds=0.1, max_retries=0))
    assert isinstance(short.step, Failure)
    assert "timed out" in short.step.message
    patient = one(lambda _: paused, limits=CallLimits(idle_seconds=5))
    assert patient.step == Reply("2", finish_reason="stop")


def test_a_reply_that_is_too_long() -> None:
    served = says("x" * 5000)
    exchange = one(lambda _: served, limits=CallLimits(max_reply_bytes=4000, max_retries=0))
    assert isinstance(exchange.step, Failure)
    assert "longer than 4000 bytes" in exchange.step.message
    assert isinstance(one(lambda _: served, limits=CallLimits(max_reply_bytes=6000)).step, Reply)


def test_a_redirect_is_not_followed() -> None:
    """The key never goes to another place than the one that was named."""
    (exchange,), asked = ask(lambda _: fails(307, Location="http://127.0.0.1:9/v1/chat/completions"), key=KEY)
    assert isinstance(exchange.step, Failure)
    assert exchange.http_status == 307
    assert len(asked) == 1


def test_a_large_body_is_sent_whole() -> None:
    """R26: a prompt of megabytes."""
    body = json.dumps({"messages": [{"content": "x" * (3 << 20)}]}).encode()
    _, asked = ask(lambda _: says("2"), bodies=[body])
    assert asked[0].raw == body


ECHOES = {
    "plain": KEY,
    "in JSON escapes": "".join(f"\\u{ord(char):04x}" for char in KEY),
    "in Base64": base64.b64encode(KEY.encode()).decode(),
}


@pytest.mark.parametrize("status", [200, 401, 500])
@pytest.mark.parametrize("echo", ECHOES.values(), ids=ECHOES)
def test_an_echoed_key_is_redacted(echo: str, status: int) -> None:
    """R80: in the body that is kept, in the message, at every status."""
    text = f"Incorrect API key provided: {echo}, team canary-72"
    body = f'{{"error":{{"message":"{text}"}}}}'.encode()
    exchange = one(lambda _: Served(status, body), key=KEY, headers={"X-Team": "canary-72"})
    kept = repr(exchange) + str(exchange.body) + json.dumps(json.loads(exchange.body or b"null"))
    for secret in (KEY, echo, "canary-72"):
        assert secret not in kept
    assert "[redacted]" in kept


def test_a_key_in_a_models_own_words_is_redacted_too() -> None:
    exchange = one(lambda _: says(f"my key is {KEY}"), key=KEY)
    assert exchange.step == Reply("my key is [redacted]", finish_reason="stop")


def test_short_values_guard_nothing() -> None:
    """`dummy` is what people set for servers without keys; a model may use the word."""
    assert one(lambda _: says("a dummy"), key="dummy").step == Reply("a dummy", finish_reason="stop")
    assert Redactor(["seven77"]).clean(b"seven77") == b"seven77"
    assert Redactor(["eight888"]).clean(b"eight888") == b"[redacted]"


def test_a_proxys_password_is_redacted() -> None:
    """The client's own error text repeats the proxy's URL, and a proxy may repeat what it was sent."""
    sent = base64.b64encode(b"user:canary/73").decode()

    def denies(asked: Asked) -> Served:
        assert asked.headers["proxy-authorization"] == f"Basic {sent}"
        return Served(407, f"no: {sent}, user:canary/73, user:canary%2f73".encode())

    async def go(proxy: str) -> Exchange:
        async with HttpEndpoints(FakeClock()).connect(Target("http://h.invalid/v1", proxy=proxy), USUAL) as endpoint:
            return await endpoint.ask(BODY)

    with ModelEndpoint(denies) as server:
        exchange = asyncio.run(go(server.base_url.replace("http://", "http://user:canary%2F73@").removesuffix("/v1")))
    assert exchange.http_status == 407
    assert "canary" not in repr(exchange)
    assert sent not in repr(exchange)
    assert "canary" not in Redactor(secrets_of_url("http://user:canary%2F73@p")).clean_text(
        "url='http://user:canary%2F73@p'"
    )


@pytest.mark.parametrize(
    "body",
    [
        '{"a":"ESCAPED","a":1}',  # the first of two equal names, which a JSON reader drops
        '{"a":"ESCAPED", broken',
        '{"n":' + "1" * 5000 + ',"a":"ESCAPED"}',  # a number that Python does not read
        "[" * 900 + '"ESCAPED"' + "]" * 900,
        json.dumps(json.dumps({"a": "ESCAPED"})),  # JSON within JSON
        json.dumps(json.dumps(json.dumps(json.dumps({"a": 'sk"ESCAPED'})))),
    ],
)
def test_an_escaped_key_is_found_in_any_text(body: str) -> None:
    """Whatever a later reader unescapes, once or more often, holds no key."""
    key = 'sk"' + KEY
    hidden = "".join(f"\\u{ord(char):04x}" for char in key)
    kept = Redactor([key]).clean(body.replace("ESCAPED", hidden).encode()).decode()
    assert "[redacted]" in kept
    flat = kept.replace("\\", "")
    assert KEY not in flat
    assert "".join(f"u{ord(char):04x}" for char in KEY) not in flat


def test_escapes_that_hold_no_key_stay_as_they_are() -> None:
    other = b'{"a":"\\u0073k-canary-7\\n1 \\u0053K-CANARY-71 \\\\"}'
    assert Redactor([KEY]).clean(other) is other


def test_secrets_are_in_no_repr() -> None:
    assert "canary" not in repr(Target("http://h", KEY, {"X": "canary-72"}, "http://u:canary@proxy"))


def test_stated_rate() -> None:
    """60 calls a minute: one second apart, retries among them."""
    clock = FakeClock()
    ask(lambda _: says("2"), bodies=[BODY] * 4, clock=clock, limits=CallLimits(calls_per_minute=60))
    assert clock.passed == pytest.approx(3)
    clock = FakeClock(jitter=0)
    ask(in_turn(fails(500), says("2")), clock=clock, limits=CallLimits(calls_per_minute=60))
    assert clock.passed == pytest.approx(1)


def test_a_429_holds_everyone_back() -> None:
    """Calls that waited for their turn take another one after the gate has closed."""

    async def go(clock: FakeClock) -> list[float]:
        gate = RateGate(clock, 60)
        entered: list[float] = []

        async def call() -> None:
            await gate.enter()
            entered.append(clock.monotonic())

        await gate.enter()
        gate.too_many(10)
        await asyncio.gather(call(), call())
        return entered

    entered = asyncio.run(go(FakeClock()))
    assert min(entered) >= 10
    assert entered[1] - entered[0] >= 1


def test_the_gate_learns_and_forgets() -> None:
    """After a 429 calls are spaced; enough good replies and they are not."""

    async def spaced(gate: RateGate, clock: FakeClock) -> bool:
        before = clock.passed
        await gate.enter()
        await gate.enter()
        return clock.passed > before

    async def go() -> None:
        clock = FakeClock()
        gate = RateGate(clock, None)
        assert not await spaced(gate, clock)
        gate.too_many(1)
        await clock.sleep(5)
        assert await spaced(gate, clock)
        for _ in range(200):
            gate.accepted()
        await clock.sleep(5)
        assert not await spaced(gate, clock)

    asyncio.run(go())
