"""Case, run spec, repeat index and transcript -> the exact bytes of a request. Nothing else shapes them.

The body is canonical JSON (RFC 8785), so that anyone can make the same bytes again and compare their SHA-256 with the
one that a run recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.ecmascript import number_text
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.public_case import EffectiveCase
from trunchbuild.core.run_spec import RequestSettings, RunSpec, ThinkingLevel, ThinkingSwitch
from trunchbuild.errors import BadInputError

_EFFORT: Mapping[ThinkingLevel, str] = {"off": "none", "on": "medium"}
"""`reasoning_effort` for the two levels that are no efforts; the others are sent as they are."""


class ThinkingNotSwitchableError(BadInputError):
    """A level of thinking is asked for which the endpoint cannot be told."""

    slug = "thinking-not-switchable"


def request_body(case: EffectiveCase, spec: RunSpec, repeat: int, transcript: Sequence[JsonObject] = ()) -> bytes:
    """The body of one request. `transcript` holds the messages of earlier steps after the prompt, oldest first.

    What the release states for the case goes first; the run's settings fill what it leaves open.

    Raises:
        ThinkingNotSwitchableError: See `thinking_members`.
    """
    assert spec.request is not None, "imported replies are not asked for"
    settings = spec.request
    messages: list[Json] = []
    if case.system_prompt is not None:
        messages.append({"role": "system", "content": case.system_prompt})
    messages += [{"role": "user", "content": case.prompt}, *transcript]
    body: dict[str, Json] = {"model": spec.model, "messages": messages}
    tokens = case.limits.max_output_tokens
    body[settings.limit_field] = settings.max_output_tokens if tokens is None else tokens
    body |= _sampling(case, settings, repeat)
    return _canonical(body)


def _sampling(case: EffectiveCase, settings: RequestSettings, repeat: int) -> dict[str, Json]:
    stated = case.sampling
    members: dict[str, Json] = {
        "temperature": settings.temperature if stated.temperature is None else stated.temperature,
        "top_p": settings.top_p if stated.top_p is None else stated.top_p,
        "stop": list(stated.stop) if stated.stop else None,
    }
    seed = settings.seed if stated.seed is None else stated.seed
    members["seed"] = None if seed is None else seed + repeat
    level = settings.thinking
    if stated.think is not None:
        level = "on" if stated.think else "off"
    if level is not None:
        try:
            members |= thinking_members(settings.thinking_switch, level)
        except ThinkingNotSwitchableError as error:
            raise ThinkingNotSwitchableError(
                error.message,
                place=f"case {case.case}",
                expected=error.faults[0].expected,
                got=error.faults[0].got,
                hint=error.hint,
            ) from None
    return {name: value for name, value in members.items() if value is not None}


def thinking_members(switch: ThinkingSwitch, level: ThinkingLevel) -> JsonObject:
    """The members of a body that switch thinking.

    Raises:
        ThinkingNotSwitchableError: The endpoint has no such switch, or only on and off: nothing is left out silently.
    """
    match switch:
        case "reasoning_effort":
            return {"reasoning_effort": _EFFORT.get(level, level)}
        case "enable_thinking":
            if level in ("on", "off"):
                return {"chat_template_kwargs": {"enable_thinking": level == "on"}}
            expected = "`on` or `off`"
        case "none":
            expected = "no level of thinking"
        case _:
            assert_never(switch)
    raise ThinkingNotSwitchableError(
        "this endpoint cannot be told to think so",
        expected=expected,
        got=f"`{level}`",
        hint="`thinking` of the provider in providers.toml says how: reasoning_effort, enable_thinking or none",
    )


def _canonical(body: Mapping[str, Json]) -> bytes:
    """RFC 8785 without the slow way of `canonical_bytes` for a whole prompt just because a number has a fraction."""
    members = (f'"{name}":'.encode() + _value(body[name]) for name in sorted(body))
    return b"{" + b",".join(members) + b"}"


def _value(value: Json) -> bytes:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value).encode()
    return canonical_bytes(value)
