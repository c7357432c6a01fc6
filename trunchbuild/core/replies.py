"""A raw reply becomes an answer, or one of the ways in which there is none. A failed call is never a wrong answer.

Two steps, so that a stranger can repeat the second from what a run publishes: `read_chat_reply` takes the bytes of an
endpoint apart, `classify` decides the status from the parts alone. The table is in `docs/running.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError

Status = Literal[
    "scored",
    "refused",
    "truncated",
    "filtered",
    "empty",
    "failed",
    "grader_error",
    "unsupported",
    "needs_environment",
]

FailureKind = Literal["transport", "http", "error_body", "no_choices", "malformed", "missing", "unsupported"]

TRUNCATED = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "incomplete", "model_context_window_exceeded"}
)
"""Finish reasons, in lower case, that mean: cut at the limit. `MAX_TOKENS` is one server's spelling."""
FILTERED = frozenset(
    {"content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "model_armor", "sensitive"}
)
"""Those that mean: a filter took the text. Gemini's OpenAI-compatible endpoint passes its own names through;
GLM's says `sensitive`."""
BROKEN_OFF = frozenset({"error", "abort", "aborted", "network_error", "insufficient_system_resource"})
"""Those that mean: the server gave up. vLLM and SGLang say `abort`, DeepSeek and GLM the last two, routers `error`."""

_OPEN = re.compile(r"<think>", re.IGNORECASE)
_CLOSE = re.compile(r"</think>", re.IGNORECASE)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_TOKENS = 10**12
"""More than any call can use; sums of smaller numbers stay exact in every JSON reader."""
_SHOWN = 500
"""Characters of a stranger's error text that are kept."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for; the arguments are its own text, not parsed."""

    name: str
    arguments: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, taken apart. None: the member was null or absent, which is not the same as empty."""

    content: str | None
    thinking: str | None = None
    """From a field of its own, not from tags within the content."""
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no reply. The message holds no secret: whoever made it has redacted it."""

    kind: FailureKind
    message: str
    http_status: int | None = None


Step = Reply | Failure
"""How one call ended."""


@dataclass(frozen=True, slots=True)
class Answer:
    """There is something to grade."""

    output: str
    """The text after the last thinking block; empty where the model only called tools."""
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """The model declined: a model's answer, scored as not passed and counted apart."""

    text: str


@dataclass(frozen=True, slots=True)
class Unscored:
    """There is nothing to grade."""

    status: Status
    message: str


Outcome = Answer | Refused | Unscored


def classify(step: Step) -> Outcome:
    """Decide what one reply is. The order is the rule: what the endpoint says about an end comes before its text."""
    if isinstance(step, Failure):
        return Unscored("unsupported" if step.kind == "unsupported" else "failed", step.message)
    reason = _normal(step.finish_reason)
    if reason in BROKEN_OFF:
        return Unscored("failed", f"finish reason `{step.finish_reason}`")
    if reason in FILTERED:
        return Unscored("filtered", f"finish reason `{step.finish_reason}`")
    if reason in TRUNCATED:
        return Unscored("truncated", f"finish reason `{step.finish_reason}`")
    if step.refusal:
        return Refused(step.refusal)
    return _from_content(step)


def _normal(reason: str | None) -> str:
    """A finish reason in lower case, without what some servers add (`content_filter: RECITATION`)."""
    return (reason or "").partition(":")[0].strip().lower()


def _from_content(reply: Reply) -> Outcome:
    if reply.content is None:
        if reply.tool_calls:
            return Answer("", reply.tool_calls)
        where = "; text was found in the thinking field" if reply.thinking else ""
        return Unscored("empty", f"the content is null{where}")
    inside, output = _after_thinking(reply.content)
    if output is None:
        return Unscored("truncated", "an unclosed thinking block")
    if not output.strip() and not reply.tool_calls and (inside or reply.thinking):
        where = "the thinking block within the content" if inside else "the thinking field"
        return Unscored("empty", f"the answer is empty; text was found in {where}")
    return Answer(output, reply.tool_calls)


def _after_thinking(content: str) -> tuple[bool, str | None]:
    """Whether there is thinking text within the content, and the text after the last closing tag.

    The text is None where a block is still open at the end. Templates that put the opening tag into the prompt leave
    the closing one alone in the reply.
    """
    end = 0
    for tag in _CLOSE.finditer(content):
        end = tag.end()
    if _OPEN.search(content, end):
        return True, None
    if not end:
        return False, content
    thinking = _CLOSE.sub("", _OPEN.sub("", content[:end]))
    return bool(thinking.strip()), content[end:].lstrip()


def read_chat_reply(body: bytes) -> tuple[Step, Json]:
    """Read the body of a chat completion that came with HTTP 200, and its `usage` (None where it is unknown).

    Lone surrogates, which a cut at a token can leave, become U+FFFD. Only the first choice is read.
    """
    try:
        value = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return Failure("malformed", "the reply is not JSON", 200), None
    if not isinstance(value, dict):
        return Failure("malformed", "the reply is no JSON object", 200), None
    return _read_choice(value), _usage(value.get("usage"))


def _usage(value: Json) -> Json:
    """The `usage` of a reply where it is an object that our own files can hold; else unknown."""
    if not isinstance(value, dict) or not value:
        return None
    if _is_counts(value, 2):
        return value
    try:
        return value if read_json(json.dumps({"usage": value}).encode(), "usage") else None
    except (BadInputError, ValueError, RecursionError):
        return None


def _is_counts(value: Mapping[str, Json], levels: int) -> bool:
    """Whether an object holds whole numbers under plain names, as nearly every `usage` does: seen at a glance."""
    return all(
        name.isascii()
        and (
            (type(item) is int and 0 <= item <= _MOST_TOKENS)
            or item is None
            or (isinstance(item, dict) and levels > 1 and _is_counts(item, levels - 1))
        )
        for name, item in value.items()
    )


def total_tokens(usage: Json) -> int | None:
    """The tokens that a call used, as its `usage` states them; None is unknown, never zero."""
    if not isinstance(usage, Mapping):
        return None
    total, *parts = [_count(usage.get(name)) for name in ("total_tokens", "prompt_tokens", "completion_tokens")]
    if total is not None:
        return total
    stated = [part for part in parts if part is not None]
    return sum(stated) if stated else None


def _count(value: Json) -> int | None:
    """A number of tokens; a number that cannot be one is unknown."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_TOKENS:
        return None
    return int(value)


def _read_choice(value: Mapping[str, Json]) -> Step:
    if value.get("error"):
        return Failure("error_body", f"HTTP 200 with an error: {error_text(value)}", 200)
    choices = value.get("choices")
    if not isinstance(choices, list) or not choices:
        return Failure("no_choices", "HTTP 200 without choices", 200)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if isinstance(choice, dict) and choice.get("error"):
        return Failure("error_body", f"a choice with an error: {error_text(choice)}", 200)
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict) or not _is_content(content):
        return Failure("malformed", "a choice without a message that can be read", 200)
    reason = _finish_reason(value, choice)
    if _normal(reason) in BROKEN_OFF:
        return Failure("error_body", f"a choice that broke off: finish reason `{reason}`", 200)
    parts = _parts(content) if isinstance(content, list) else {}
    return Reply(
        content=whole_text(content) if isinstance(content, str) else parts.get("text"),
        thinking=_thinking(message) or parts.get("thinking"),
        tool_calls=_tool_calls(message),
        refusal=_first_text(message, ("refusal",)) or parts.get("refusal"),
        finish_reason=reason,
    )


def _is_content(value: Json) -> bool:
    """Content is text, null, or a list of typed parts."""
    if isinstance(value, list):
        return all(isinstance(part, dict) for part in value)
    return value is None or isinstance(value, str)


def _parts(content: Sequence[Json]) -> Mapping[str, str]:
    """The texts of typed parts, joined by type: `text`, `thinking` (of parts itself with Mistral), `refusal`."""
    texts: dict[str, list[str]] = {}
    for part in content:
        assert isinstance(part, dict)
        kind = "text" if part.get("type") in ("text", "output_text") else str(part.get("type"))
        text = part.get(kind)
        if isinstance(text, list):
            text = "".join(str(inner["text"]) for inner in text if isinstance(inner, dict) and "text" in inner)
        if isinstance(text, str):
            texts.setdefault(kind, []).append(whole_text(text))
    return {kind: "".join(found) for kind, found in texts.items()}


def _finish_reason(value: Mapping[str, Json], choice: Mapping[str, Json]) -> str | None:
    reason = choice.get("finish_reason")
    if not isinstance(reason, str):
        return None
    if reason == "incomplete":
        for holder in (choice, value):
            details = holder.get("incomplete_details")
            if isinstance(details, dict) and isinstance(details.get("reason"), str):
                return whole_text(str(details["reason"]))
    return whole_text(reason)


def _tool_calls(message: Mapping[str, Json]) -> tuple[ToolCall, ...]:
    calls: list[ToolCall] = []
    listed = message.get("tool_calls")
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, dict) and isinstance(call.get("function"), dict):
            calls.append(_tool_call(call["function"], call.get("id")))
    legacy = message.get("function_call")
    if not calls and isinstance(legacy, dict):
        calls.append(_tool_call(legacy, None))
    return tuple(calls)


def _tool_call(function: Mapping[str, Json], call_id: Json) -> ToolCall:
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(arguments, str):
        # Some servers send the parsed value where the interface has its text.
        arguments = "" if arguments is None else _dumped(arguments)
    return ToolCall(
        name=whole_text(name) if isinstance(name, str) else "",
        arguments=whole_text(arguments),
        id=whole_text(call_id) if isinstance(call_id, str) else None,
    )


def _first_text(message: Mapping[str, Json], names: Sequence[str]) -> str | None:
    for name in names:
        text = message.get(name)
        if isinstance(text, str) and text:
            return whole_text(text)
    return None


def _thinking(message: Mapping[str, Json]) -> str | None:
    """The thinking text in a field of its own; OpenRouter can put it into a list of details alone."""
    details = message.get("reasoning_details")
    listed = [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    texts = [_first_text(item, ("text", "summary")) for item in listed]
    return _first_text(message, ("reasoning_content", "reasoning", "thinking")) or "".join(filter(None, texts)) or None


def whole_text(text: str) -> str:
    """The text without lone surrogates, so that it has UTF-8 bytes."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def error_members(body: Json) -> JsonObject:
    """The members of an error as servers write it: `{"error": {...}}`, `{"error": "text"}`, `{"detail": ...}`."""
    if not isinstance(body, Mapping):
        return {}
    error = body.get("error")
    if isinstance(error, Mapping):
        return error
    if isinstance(error, str):
        return {**body, "message": error}
    return body


def error_text(body: Json) -> str:
    """An error body in one line for people, cut."""
    members = error_members(body)
    message = members.get("message") or members.get("detail")
    text = message if isinstance(message, str) else ""
    if not text:
        shown = message or {name: members[name] for name in ("code", "type", "param") if members.get(name)}
        text = _dumped(shown) if shown else "no message"
    text = " ".join(whole_text(text).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _dumped(value: Json) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "a message that is nested too deeply"
