"""Every row of the status table that a reply without streaming can give; expectations are the table's own words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trunchbuild.core.replies import Answer, Failure, Refused, Reply, Unscored, classify, read_chat_reply, total_tokens


def outcome_of(message: dict[str, Any] | None, finish: str | None = "stop", **more: Any):
    choice: dict[str, Any] = {"finish_reason": finish, **more}
    if message is not None:
        choice["message"] = message
    step, _ = read_chat_reply(json.dumps({"choices": [choice]}).encode())
    return classify(step)


def status(outcome: object) -> str:
    match outcome:
        case Answer():
            return "answer"
        case Refused():
            return "refused"
        case Unscored(status=name):
            return name
    raise AssertionError(outcome)


@pytest.mark.parametrize(
    ("message", "finish", "expected"),
    [
        ({"content": "42"}, "stop", "answer"),
        ({"content": "42"}, None, "answer"),
        ({"content": ""}, "stop", "answer"),  # a string, and no thinking: the empty answer is an answer
        ({"content": "   "}, "stop", "answer"),
        ({"content": "The sum is 4"}, "length", "truncated"),  # R56
        ({"content": "The sum is 4"}, "max_tokens", "truncated"),
        ({"content": "The sum is 4"}, "model_context_window_exceeded", "truncated"),
        ({"content": ""}, "SAFETY", "filtered"),  # Gemini's own names pass through its OpenAI-compatible endpoint
        ({"content": ""}, "content_filter: RECITATION", "filtered"),
        ({"content": ""}, "sensitive", "filtered"),
        ({"content": "The su"}, "abort", "failed"),  # vllm-project/vllm#57082
        ({"content": "The su"}, "insufficient_system_resource", "failed"),
        ({"content": "The su"}, "ERROR", "failed"),
        ({"content": "", "reasoning_details": [{"type": "reasoning.text", "text": "so 4"}]}, "stop", "empty"),
        ({"content": "", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}, "stop", "answer"),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": ""},
                ]
            },
            "stop",
            "empty",
        ),
        ({"content": "The sum is 4"}, "MAX_TOKENS", "truncated"),
        ({"content": "The sum is 4"}, "model_length", "truncated"),
        ({"content": "The sum is 4"}, "incomplete", "truncated"),
        ({"content": "<think>it is 12"}, "stop", "truncated"),  # R46
        ({"content": "<THINK>it is 12"}, "stop", "truncated"),
        ({"content": "<think>a</think>b<think>it is 12"}, "stop", "truncated"),
        ({"content": "", "refusal": "no"}, "stop", "refused"),
        ({"content": None, "refusal": "no"}, "stop", "refused"),  # R67
        ({"content": "4", "refusal": None}, "stop", "answer"),
        ({"content": "4", "refusal": ""}, "stop", "answer"),
        ({"content": ""}, "content_filter", "filtered"),  # R67
        ({"content": "part", "refusal": "no"}, "content_filter", "filtered"),
        ({"content": None}, "stop", "empty"),
        ({}, "stop", "empty"),
        ({"content": "", "reasoning_content": "…so 12"}, "stop", "empty"),  # R64
        ({"content": "", "reasoning": "…so 12"}, "stop", "empty"),
        ({"content": "<think>so 12</think>"}, "stop", "empty"),
        ({"content": "<think>so 12</think>\n\n"}, "stop", "empty"),
        ({"content": "<think></think>"}, "stop", "answer"),  # a block without text is no thinking
        ({"content": "12", "reasoning_content": "…so 12"}, "stop", "answer"),
        ({"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}, "tool_calls", "answer"),  # R66
        ({"content": None, "tool_calls": [{"function": {"name": "f", "arguments": ""}}]}, "tool_calls", "answer"),
        ({"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call", "answer"),
        ({"content": "", "tool_calls": []}, "stop", "answer"),
        ({"content": [{"type": "text", "text": "4"}, {"type": "text", "text": "2"}]}, "stop", "answer"),
        ({"content": [{"type": "thinking", "thinking": "so"}]}, "stop", "empty"),
        ({"content": 7}, "stop", "failed"),
        (None, "stop", "failed"),
        ({"content": "x"}, "error", "failed"),
    ],
)
def test_status_of_a_message(message: dict[str, Any] | None, finish: str | None, expected: str) -> None:
    """R46, R56, R64, R66, R67."""
    assert status(outcome_of(message, finish)) == expected


def test_incomplete_with_its_reason() -> None:
    """A gateway's `incomplete` is truncated or filtered by its details."""
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "incomplete"}]}
    for reason, expected in (("max_output_tokens", "truncated"), ("content_filter", "filtered")):
        whole = {**body, "incomplete_details": {"reason": reason}}
        assert status(classify(read_chat_reply(json.dumps(whole).encode())[0])) == expected


def test_empty_says_where_text_was_found() -> None:
    """R64."""
    outcome = outcome_of({"content": "", "reasoning_content": "…so 12"})
    assert isinstance(outcome, Unscored)
    assert "thinking field" in outcome.message
    outcome = outcome_of({"content": "<think>so 12</think> "})
    assert isinstance(outcome, Unscored)
    assert "within the content" in outcome.message


@pytest.mark.parametrize(
    ("content", "output"),
    [
        ("<think>maybe 13</think>12", "12"),
        ("<think>\nmaybe 13\n</think>\n\n12\n", "12\n"),
        ("maybe 13</think>12", "12"),  # the template put the opening tag into the prompt
        ("<think>a</think>1<Think>b</Think>2", "2"),
        (" 12 ", " 12 "),
        ("a < b and b > c", "a < b and b > c"),
    ],
)
def test_graded_text_follows_the_last_thinking_block(content: str, output: str) -> None:
    """R46: the raw text stays in the reply; only what follows the last closing tag is graded."""
    outcome = outcome_of({"content": content})
    assert isinstance(outcome, Answer)
    assert outcome.output == output


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"code":502,"message":"busy"}}',
        b'{"error":"busy","choices":[]}',
        b'{"choices":[]}',
        b'{"choices":null}',
        b"{}",
        b"[]",
        b"null",
        b"",
        b"<html>busy</html>",
        b"\xff\xfe",
        b'{"choices":[{"message":{"content":"4"},"error":{"message":"upstream gone"}}]}',
        b'{"choices":["4"]}',
        b"[" * 100_000,
    ],
)
def test_200_without_a_reply_is_failed(body: bytes) -> None:
    """R60: an error body, no choices or no JSON under HTTP 200 never becomes an answer."""
    step, usage = read_chat_reply(body)
    assert isinstance(step, Failure)
    assert status(classify(step)) == "failed"
    assert usage is None


def test_a_byte_order_mark_is_no_part_of_a_reply() -> None:
    """RFC 8259, 8.1: a reader may ignore it."""
    body = b'\xef\xbb\xbf{"choices":[{"message":{"content":"42"},"finish_reason":"stop"}]}'
    assert read_chat_reply(body)[0] == Reply("42", finish_reason="stop")


def test_a_reply_that_broke_off_is_asked_again() -> None:
    """It is a failure in the journal, so that the same command goes on with it; an imported one counts alike."""
    step, _ = read_chat_reply(b'{"choices":[{"message":{"content":"The su"},"finish_reason":"abort"}]}')
    assert isinstance(step, Failure)
    assert status(classify(Reply("The su", finish_reason="abort"))) == "failed"


def test_lone_surrogates_become_replacement_characters() -> None:
    """A cut at a token can leave half an emoji; the text must have UTF-8 bytes."""
    step, _ = read_chat_reply(rb'{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}')
    assert step == Reply("a\ufffd", finish_reason="stop")


def test_tool_calls_are_taken_by_name_and_text() -> None:
    """Arguments stay the model's own text; a parsed value is written out."""
    calls = [
        {"id": "c1", "function": {"name": "add", "arguments": '{"a": 1}'}},
        {"id": 7, "function": {"name": "add", "arguments": {"a": 1}}},
        "nonsense",
    ]
    outcome = outcome_of({"content": None, "tool_calls": calls}, "tool_calls")
    assert isinstance(outcome, Answer)
    assert [(call.name, call.arguments, call.id) for call in outcome.tool_calls] == [
        ("add", '{"a": 1}', "c1"),
        ("add", '{"a": 1}', None),
    ]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"total_tokens": -5}, None),
        ({"total_tokens": True}, None),
        ({"total_tokens": 1e308, "prompt_tokens": 7}, 7),
        (None, None),
        ({}, None),
        ({"total_tokens": 9}, 9),
        ({"prompt_tokens": 7, "completion_tokens": 2}, 9),
        ({"prompt_tokens": 7}, 7),
        ({"total_tokens": None, "completion_tokens": 2}, 2),
        ({"total_tokens": "9"}, None),
    ],
)
def test_unknown_usage_is_not_zero(usage: Any, expected: int | None) -> None:
    """R69: missing usage is unknown."""
    assert total_tokens(usage) == expected


def test_usage_is_read_or_unknown() -> None:
    """An empty object states nothing."""
    choice = '"choices":[{"message":{"content":"x"}}]'
    assert read_chat_reply(f'{{{choice},"usage":{{"total_tokens":9}}}}'.encode())[1] == {"total_tokens": 9}
    assert read_chat_reply(f'{{{choice},"usage":{{}}}}'.encode())[1] is None
    assert read_chat_reply(f"{{{choice}}}".encode())[1] is None


@pytest.mark.parametrize(
    "usage",
    [
        "NaN",
        "[1]",
        '{"total_tokens":NaN}',
        '{"total_tokens":1e400}',
        '{"x":"\\ud800"}',
        '{"total_tokens":9007199254740993}',  # 2 ** 53 + 1: no double
        '{"x":' + "[" * 127 + "]" * 127 + "}",  # one level too many within a line of replies.jsonl
    ],
)
def test_usage_that_strict_json_cannot_hold_is_unknown(usage: str) -> None:
    """R21: result files stay strict JSON whatever a server sends."""
    step, read = read_chat_reply(f'{{"choices":[{{"message":{{"content":"x"}}}}],"usage":{usage}}}'.encode())
    assert step == Reply("x")
    assert read is None
