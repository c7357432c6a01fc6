"""When to ask again, how long to wait, which setting an error refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from trunchbuild.core.call_policy import backoff, http_failure, is_retried, refused_parameter, retry_after
from trunchbuild.core.replies import Failure, Reply

NOW = datetime(2027, 1, 1, 0, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("Fri, 01 Jan 2027 00:00:05 GMT", 5.0),  # R62
        ("Friday, 01-Jan-27 00:00:05 GMT", 5.0),  # RFC 850 form, which RFC 9110 makes recipients read
        ("Fri Jan  1 00:00:05 2027", 5.0),  # asctime form, likewise
        ("Fri, 01 Jan 2027 01:00:05 +0100", 5.0),
        ("86400", 86400.0),
        ("0", 0.0),
        (" 3 ", 3.0),
        ("0.5", 0.5),
        ("-3", None),
        ("soon", None),
        ("", None),
        ("1e3", None),
        ("٣", None),
        ("9" * 400, None),
        ("Thu, 31 Dec 2026 23:59:59 GMT", None),  # in the past
        ("Fri, 99 Jan 2027 00:00:05 GMT", None),
        (None, None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    """R62: seconds and dates are read; nonsense gives way to our own waiting time."""
    assert retry_after(header, NOW) == seconds


def test_backoff_doubles_up_to_a_cap_and_jitters_fully() -> None:
    """Full jitter: anything from nothing to the whole of it."""
    assert [backoff(retry, 1.0) for retry in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff(3, 0.0) == 0
    assert backoff(3, 0.25) == 1


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_busy_servers_are_asked_again(status: int) -> None:
    failure, body = http_failure(status, b"{}")
    assert is_retried(status, failure, body)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 301])
def test_other_errors_are_final(status: int) -> None:
    failure, body = http_failure(status, b"{}")
    assert not is_retried(status, failure, body)


@pytest.mark.parametrize(
    ("code", "again"),
    [
        (502, True),
        ("503", True),
        (429, True),
        (None, True),
        (400, False),
        ("404", False),
        ("\N{SUPERSCRIPT TWO}", True),  # a digit to Python, and no number
        ("4" * 5000, True),
        ("invalid_request", True),
        (True, True),
    ],
)
def test_200_with_an_error_body(code: object, again: bool) -> None:
    """R60: what the body says decides, as its HTTP status would have."""
    body = {"error": {"code": code, "message": "busy"}}
    assert is_retried(200, Failure("error_body", "busy", 200), body) is again


def test_replies_are_never_asked_again() -> None:
    assert not is_retried(200, Reply(""), None)
    assert is_retried(None, Failure("transport", "reset"), None)
    assert is_retried(200, Failure("no_choices", ""), None)


SENT: dict[str, Any] = {
    "model": "m",
    "messages": [],
    "temperature": 0,
    "seed": 1,
    "stop": ["x"],
    "top_p": 1,
    "max_tokens": 9,
    "reasoning_effort": "low",
}


@pytest.mark.parametrize(
    ("error", "name", "cure"),
    [
        ({"code": "unsupported_parameter", "param": "max_tokens"}, "max_tokens", "max_completion_tokens"),  # R63
        (
            {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
                "type": "invalid_request_error",
                "param": None,
                "code": None,
            },
            "max_tokens",
            "max_completion_tokens",
        ),
        (
            {
                "message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
                "value is supported.",
                "param": "temperature",
                "code": "unsupported_value",
            },
            "temperature",
            "--temperature none",
        ),
        ({"message": "max_tokens is too large: 32768. It supports at most 16384"}, "max_tokens", "--max-output"),
        ({"message": "Unrecognized request argument supplied: seed"}, "seed", "--seed"),
        ({"message": "reasoning_effort is not supported"}, "reasoning_effort", "--thinking"),
    ],
)
def test_refused_parameters_name_their_cure(error: dict[str, Any], name: str, cure: str) -> None:
    """R63: nothing is dropped in silence; the message names the option that helps."""
    refused = refused_parameter(400, {"error": error}, SENT)
    assert refused is not None
    assert refused.name == name
    assert cure in refused.cure


def test_a_validators_list_of_faults_is_read() -> None:
    """422 as FastAPI writes it."""
    body = {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted", "type": "extra"}]}
    refused = refused_parameter(422, body, SENT)
    assert refused is not None
    assert refused.name == "temperature"


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Invalid prompt: it was flagged; please stop", "type": "invalid_request_error"},
        {"message": "the seed of the plant is unknown to us"},
        {"message": "scripted"},
        {"type": "exceed_context_size_error", "message": "the request exceeds the context", "n_ctx": 4096},
        {"code": "unsupported_parameter", "param": "top_k"},  # we did not send it
    ],
)
def test_other_faults_are_no_refused_parameter(error: dict[str, Any]) -> None:
    """The twin of R63: an error about one prompt must not stop the run."""
    assert refused_parameter(400, {"error": error}, SENT) is None
    assert refused_parameter(500, {"error": {"param": "max_tokens"}}, SENT) is None


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "this model does not support tools", "unsupported"),
        (400, "registry/tiny:1b does not support tool use", "unsupported"),
        (400, "logprobs is not supported by this server", "unsupported"),
        (404, "No endpoints found that support image input", "unsupported"),
        (400, "the prompt is too long for the tool room", "http"),
        (500, "tools are not supported", "http"),
    ],
)
def test_an_endpoint_that_lacks_something(status: int, message: str, kind: str) -> None:
    failure, _ = http_failure(status, json.dumps({"error": {"message": message}}).encode())
    assert failure.kind == kind


def test_http_failures_of_any_body_have_a_line() -> None:
    assert http_failure(502, b"<html>\n bad\tgateway </html>")[0].message == "HTTP 502: <html> bad gateway </html>"
    assert http_failure(500, b"")[0].message == "HTTP 500: no message"
    assert http_failure(500, b'{"error":{"message":"a\\nb"}}')[0].message == "HTTP 500: a b"
    assert len(http_failure(500, json.dumps({"error": "x" * 10_000}).encode())[0].message) < 600


@pytest.mark.parametrize("param", [["tools"], {"name": "tools"}, 7, True, None])
def test_an_error_whose_members_have_odd_kinds_is_an_ordinary_failure(param: object) -> None:
    """Servers write what they like; a list where a name belongs names no parameter, and the name itself does."""
    body = {"error": {"message": "no", "code": "unsupported_parameter", "param": param}}
    assert http_failure(400, json.dumps(body).encode())[0].kind == "http"
    named = {"error": {"message": "no", "code": "unsupported_parameter", "param": "tools"}}
    assert http_failure(400, json.dumps(named).encode())[0].kind == "unsupported"
