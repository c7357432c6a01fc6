"""What to do after one HTTP exchange with an endpoint: take it, ask again, or stop the run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from trunchbuild.core.json_types import Json
from trunchbuild.core.replies import Failure, Step, error_members, error_text

RETRIED = frozenset({408, 409, 425, 429})
"""Beside every 5xx."""
MAX_RETRIES = 5
RETRY_AFTER_CAP = 60.0
"""Seconds; an endpoint that asks for more stops the run, which can be resumed then."""
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0

_CLIENT_ERROR = re.compile(r"4[0-9]{2}\Z")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?\Z")
# Looked for only once a call has failed, so not compiled with the module.
_REFUSING = (
    r"unsupported|not support|unrecogni[sz]ed|unknown|not permitted|not allowed|invalid|unexpected"
    r"|too (?:large|high|big)|only the default|deprecated|must be|should be|less than|greater than|exceed"
)
_LACKING = (
    r"\b(?:tools?|tool[ _]use|tool[ _]choice|function[ _]calling|functions|logprobs|top_logprobs|images?|image input"
    r"|vision|audio|response_format)\b"
)
_LACKS = (
    rf"(?:not|n't|no) (?:\w+ ){{0,3}}?support(?:ed|s|ing)? (?:\w+ ){{0,3}}?{_LACKING}"
    rf"|{_LACKING}[^.]{{0,40}}?(?:not supported|unsupported|not available)"
)
_CAPABILITIES = frozenset({"tools", "tool_choice", "functions", "logprobs", "top_logprobs", "response_format"})
_TOO_LONG = frozenset({"exceed_context_size_error", "context_length_exceeded", "string_above_max_length"})
"""A prompt that does not fit is a fault of one case, not of a setting."""

_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_TOO_LARGE = re.compile(r"too (?:large|high|big)|at most|less than|exceed|maximum", re.IGNORECASE)
_CURES: Mapping[str, str] = {
    "temperature": "`--temperature none` leaves it out, `--temperature N` sends another value",
    "top_p": "run without `--top-p`",
    "seed": "run without `--seed`",
    "reasoning_effort": "`--thinking` with another level, or `thinking` of the provider in providers.toml",
    "chat_template_kwargs": "`thinking` of the provider in providers.toml says how thinking is switched",
    "stop": "the release states it: this endpoint cannot run these cases",
}


@dataclass(frozen=True, slots=True)
class RefusedParameter:
    """A setting that the endpoint does not take, and what changes it."""

    name: str
    cure: str


def retry_after(value: str | None, now: datetime) -> float | None:
    """The seconds that a `Retry-After` header asks to wait (RFC 9110, 10.2.3): a number or an HTTP date.

    None for no header and for nonsense (`-3`, `soon`), where the caller's own waiting time holds.
    """
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.match(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = (moment - now).total_seconds()
    return seconds if seconds > 0 else None


def backoff(retry: int, jitter: float) -> float:
    """Seconds before retry number `retry` (from 0): exponential with full jitter; `jitter` lies in [0, 1)."""
    return float(min(_LONGEST_WAIT, _FIRST_WAIT * 2**retry) * jitter)


def is_retried(status: int | None, step: Step, body: Json) -> bool:
    """Whether another try may help: a transport error (no status), a busy server, a 200 that holds no reply."""
    if not isinstance(step, Failure) or step.kind == "unsupported":
        return False
    if step.kind in ("transport", "malformed", "no_choices"):
        return True
    if step.kind == "error_body":
        code = str(error_members(body).get("code"))
        return not _CLIENT_ERROR.match(code) or int(code) in RETRIED
    return status is not None and (status in RETRIED or status >= 500)


def http_failure(status: int, body: bytes) -> tuple[Failure, Json]:
    """The failure that an HTTP error is, and its body where that is JSON. The body must be redacted already."""
    try:
        value: Json = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict | list):
        text = error_text(value if isinstance(value, dict) else {"detail": value})
    else:
        text = " ".join(body[:300].decode("utf-8", "replace").split()) or "no message"
    kind = "unsupported" if status in (400, 404, 422, 501) and lacks_capability(value) else "http"
    return Failure(kind, f"HTTP {status}: {text}", status), value  # type: ignore[arg-type]


def lacks_capability(body: Json) -> bool:
    """Whether an error says that the endpoint has no tools, logprobs, images ...: the case cannot run there."""
    members = error_members(body)
    param = members.get("param")
    if isinstance(param, str) and param in _CAPABILITIES and str(members.get("code", "")).startswith("unsupported"):
        return True
    return bool(re.search(_LACKS, error_text(body), re.IGNORECASE)) if isinstance(body, Mapping) else False


def refused_parameter(status: int | None, body: Json, sent: Mapping[str, Json]) -> RefusedParameter | None:
    """The setting of our request that an error refuses; None where the error is about something else.

    `sent` is the request body. The prompt and the model are no settings.
    """
    if status not in (400, 422) or not isinstance(body, Mapping):
        return None
    members = error_members(body)
    if {str(members.get("code")), str(members.get("type"))} & _TOO_LONG and not _names_limit(members):
        return None
    text = _refusal_text(members)
    for name in sent:
        if name in ("model", "messages", "stream"):
            continue
        if members.get("param") == name or (_mentions(text, name) and re.search(_REFUSING, text, re.IGNORECASE)):
            return RefusedParameter(name, _cure(name, f"{members.get('code')} {text}"))
    return None


def _refusal_text(members: Mapping[str, Json]) -> str:
    """What an error says in words: its message, or the list of faults that validators write."""
    detail = members.get("detail")
    parts = [members.get("message"), detail if isinstance(detail, str) else None]
    words = [part for part in parts if isinstance(part, str)]
    if isinstance(detail, list | dict):
        words.append(json.dumps(detail, ensure_ascii=False))
    return " ".join(words)


def _mentions(text: str, name: str) -> bool:
    """Whether a text names a parameter; one that is an English word must be quoted or announced."""
    if "_" in name:
        return bool(re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text))
    announced = r"(?:parameter|argument|field|option|property|value)s?(?: supplied| provided| for)?:? "
    return bool(re.search(rf"['\"`]{re.escape(name)}['\"`]|{announced}{re.escape(name)}(?!\w)", text, re.IGNORECASE))


def _names_limit(members: Mapping[str, Json]) -> bool:
    message = str(members.get("message"))
    return any(name in message for name in _LIMITS) and bool(_TOO_LARGE.search(message))


def _cure(name: str, text: str) -> str:
    if name not in _LIMITS:
        return _CURES.get(name, "the provider's settings in providers.toml")
    if _TOO_LARGE.search(text) and not re.search(r"unsupported.parameter", text, re.IGNORECASE):
        return "`--max-output-tokens N` with a smaller number"
    other = _LIMITS[name]
    return f'`--limit-field {other}`, or `limit_field = "{other}"` of the provider in providers.toml'
