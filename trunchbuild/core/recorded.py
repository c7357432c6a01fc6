"""What a run publishes of each trial: one line of `replies.jsonl`, enough to recompute status, verdict and digest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from trunchbuild.core.canonical import digest_of
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.plan import Trial
from trunchbuild.core.replies import Failure, FailureKind, Reply, Step, ToolCall
from trunchbuild.core.strict_json import read_json_lines

REPLY_TYPE = "trunchbuild.reply/v1"

FAILURE_KINDS: tuple[FailureKind, ...] = get_args(FailureKind)
NOT_RECORDED = Failure("missing", "no reply is recorded")
"""A trial of which nothing is known."""


@dataclass(frozen=True, slots=True)
class TrialReply:
    """How one trial ended, and what stands beside that: times and costs are no part of any digest."""

    trial: Trial
    step: Step
    latency_ms: float | None = None
    usage: Json = None
    """As the endpoint stated it; None is unknown."""
    request_sha256: str | None = None
    """Of the exact request body, bare hex; None where replies were imported."""
    retried: int = 0
    """Tries before the one that counts."""

    @property
    def digest(self) -> Digest | None:
        """The reply digest; None where there is no reply."""
        return reply_digest([self.step])


def reply_digest(steps: Sequence[Step]) -> Digest | None:
    """The digest of what a model said in all steps of a trial; None where the last one gave no reply.

    Over content, thinking text, tool calls by name and argument text, refusal and finish reason; not over ids, times,
    token counts or anything else that differs between two equal replies.
    """
    said: list[Json] = []
    for step in steps:
        if isinstance(step, Failure):
            return None
        calls: list[Json] = [{"name": call.name, "arguments": call.arguments} for call in step.tool_calls]
        said.append(
            {
                "content": step.content,
                "thinking": step.thinking,
                "tool_calls": calls,
                "refusal": step.refusal,
                "finish_reason": step.finish_reason,
            }
        )
    return digest_of({"type": REPLY_TYPE, "steps": said})


def reply_line(reply: TrialReply) -> bytes:
    r"""The line of `replies.jsonl`, with its `\n`."""
    return json_line(reply_json(reply))


def json_line(value: JsonObject) -> bytes:
    r"""One strict JSON line for people and programs, with its `\n`; not a form that gets hashed."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def reply_json(reply: TrialReply) -> JsonObject:
    """The line as a value; what is not there is absent, but for `response` and `finish_reason`."""
    trial, step = reply.trial, reply.step
    value: dict[str, Json] = {"eval": trial.eval, "id": trial.id, "repeat": trial.repeat}
    if isinstance(step, Failure):
        error: dict[str, Json] = {"kind": step.kind, "message": step.message}
        if step.http_status is not None:
            error["http_status"] = step.http_status
        value |= {"response": None, "finish_reason": None, "error": error}
    else:
        value |= {"response": step.content, "finish_reason": step.finish_reason}
        if step.thinking is not None:
            value["thinking"] = step.thinking
        if step.tool_calls:
            value["tool_calls"] = [_call_json(call) for call in step.tool_calls]
        if step.refusal is not None:
            value["refusal"] = step.refusal
    latency = reply.latency_ms
    beside: dict[str, Json] = {
        "latency_ms": int(latency) if latency is not None and latency == int(latency) else latency,
        "usage": reply.usage,
        "request_sha256": reply.request_sha256,
        "retried": reply.retried or None,
    }
    return value | {name: item for name, item in beside.items() if item is not None}


def _call_json(call: ToolCall) -> JsonObject:
    value: dict[str, Json] = {"name": call.name, "arguments": call.arguments}
    return value if call.id is None else {**value, "id": call.id}


def read_replies(lines: Iterable[bytes], place: str) -> Iterator[tuple[int, TrialReply]]:
    """Read the lines of `replies.jsonl` (with or without LF): line number from 1, and the trial's reply.

    Raises:
        BadInputError: A line is not of that form; nothing unknown passes.
    """
    for number, value in read_json_lines(lines, place):
        yield number, _read_reply(Fields(value, f"{place}:{number}"))


def _read_reply(fields: Fields) -> TrialReply:
    trial = Trial(fields.text("eval"), fields.text("id"), fields.integer("repeat"))
    response = _text_or_null(fields, "response")
    reason = _text_or_null(fields, "finish_reason")
    step: Step
    if fields.has("error"):
        step = _read_failure(Fields(fields.take("error"), fields.place("error")))
    else:
        step = Reply(
            content=response,
            thinking=fields.optional("thinking", fields.text),
            tool_calls=read_calls(fields) if fields.has("tool_calls") else (),
            refusal=fields.optional("refusal", fields.text),
            finish_reason=reason,
        )
    reply = TrialReply(
        trial=trial,
        step=step,
        latency_ms=fields.optional("latency_ms", fields.number),
        usage=fields.optional("usage", fields.mapping),
        request_sha256=fields.optional("request_sha256", fields.text),
        retried=fields.optional("retried", fields.integer) or 0,
    )
    fields.end()
    return reply


def _text_or_null(fields: Fields, name: str) -> str | None:
    value = fields.take(name)
    if value is not None and not isinstance(value, str):
        raise fields.wrong(name, "a string or null", str(type(value).__name__))
    return value


def _read_failure(fields: Fields) -> Failure:
    name = fields.text("kind")
    kind = next((kind for kind in FAILURE_KINDS if kind == name), None)
    if kind is None:
        raise fields.wrong("kind", " or ".join(f"`{known}`" for known in FAILURE_KINDS), ascii(name))
    failure = Failure(kind, fields.text("message"), fields.optional("http_status", fields.integer))
    fields.end()
    return failure


def read_calls(fields: Fields) -> tuple[ToolCall, ...]:
    """Read the member `tool_calls` of a line: `[{"name", "arguments", "id"?}]`."""
    calls: list[ToolCall] = []
    for index, item in enumerate(fields.items("tool_calls")):
        call = Fields(item, f"{fields.place('tool_calls')}/{index}")
        calls.append(ToolCall(call.text("name"), call.text("arguments"), call.optional("id", call.text)))
        call.end()
    return tuple(calls)


@dataclass(slots=True)
class ReplyBook:
    """The replies of a run by trial, and the trials that a file holds more than once."""

    replies: Mapping[Trial, TrialReply]
    doubled: list[Trial] = field(default_factory=list)


def book_of(replies: Iterable[TrialReply]) -> ReplyBook:
    """Collect replies; of a doubled trial the first stays."""
    found: dict[Trial, TrialReply] = {}
    doubled: list[Trial] = []
    for reply in replies:
        if reply.trial in found:
            doubled.append(reply.trial)
        else:
            found[reply.trial] = reply
    return ReplyBook(found, doubled)
