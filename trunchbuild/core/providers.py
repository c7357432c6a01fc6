"""`providers.toml`: where models are served and how each server wants to be asked. Names of variables, never secrets.

[example]
base_url = "https://llm.example/v1"
api_key_env = "EXAMPLE_API_KEY"
rpm = 60
thinking = "enable_thinking"            # or reasoning_effort, none
limit_field = "max_completion_tokens"   # or max_tokens
headers = { X-Team = "EXAMPLE_TEAM" }   # header = variable that holds its value
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar, cast
from urllib.parse import urlsplit

from trunchbuild.core.fields import Fields
from trunchbuild.core.json_types import Json
from trunchbuild.core.run_spec import LIMIT_FIELDS, THINKING_SWITCHES, LimitField, ThinkingSwitch
from trunchbuild.errors import BadInputError

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_OURS = frozenset({"accept", "accept-encoding", "content-length", "content-type", "host", "transfer-encoding"})

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class Provider:
    """One table of the file."""

    name: str
    base_url: str
    api_key_env: str | None = None
    rpm: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    """Header name -> name of the variable that holds its value."""
    thinking: ThinkingSwitch = "reasoning_effort"
    limit_field: LimitField = "max_tokens"


def read_providers(text: str, place: str) -> Mapping[str, Provider]:
    """Read the file; name -> provider.

    Raises:
        BadInputError: It is no TOML, or a table has a missing, unknown or wrong member.
    """
    import tomllib  # noqa: PLC0415 - a run without `--provider` reads no such file

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInputError(f"not TOML: {error}", place=place) from None
    # Dates and times are the only TOML values that JSON lacks; no member takes one, so each is refused by its type.
    return {name: _read(name, Fields(cast("Json", value), f"{place} [{name}]")) for name, value in document.items()}


def _read(name: str, fields: Fields) -> Provider:
    if fields.has("api"):
        fields.literal("api", "chat")
    rpm = fields.optional("rpm", fields.number)
    if rpm is not None and not 0 < rpm < inf:  # TOML has infinities and NaN
        raise fields.wrong("rpm", "more than 0 calls a minute", str(rpm))
    provider = Provider(
        name=name,
        base_url=check_base_url(fields.text("base_url"), fields.place("base_url")),
        api_key_env=fields.optional("api_key_env", lambda member: _variable(fields, member)),
        rpm=rpm,
        headers=_headers(Fields(fields.take("headers"), fields.place("headers"))) if fields.has("headers") else {},
        thinking=_choice(fields, "thinking", THINKING_SWITCHES, "reasoning_effort"),
        limit_field=_choice(fields, "limit_field", LIMIT_FIELDS, "max_tokens"),
    )
    fields.end()
    return provider


def _headers(fields: Fields) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    for name in fields.names():
        if not _HEADER.match(name) or name.lower() in _OURS:
            raise fields.wrong(name, "a header that is not set by trunchbuild itself", f"`{name}`")
        headers[name] = _variable(fields, name)
    return headers


def is_variable(name: str) -> bool:
    """Whether a text looks like the name of an environment variable; what does not may be a secret."""
    return bool(_VARIABLE.match(name))


def _variable(fields: Fields, name: str) -> str:
    """The name of a variable; anything else is not repeated."""
    value = fields.text(name)
    if not is_variable(value):
        raise fields.wrong(name, "the name of an environment variable", "something else")
    return value


def _choice(fields: Fields, name: str, choices: tuple[T, ...], default: T) -> T:
    if not fields.has(name):
        return default
    text = fields.text(name)
    for choice in choices:
        if choice == text:
            return choice
    raise fields.wrong(name, " or ".join(f"`{choice}`" for choice in choices), ascii(text))


def check_base_url(url: str, place: str) -> str:
    """A base URL without its final slash.

    Raises:
        BadInputError: It is no http or https URL with a host, or holds user info, a query or a fragment, where secrets
            would end in files; such a part is not repeated in the message.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BadInputError("not a URL", place=place, expected="https://HOST/v1") from None
    printable = all(c.isprintable() and c != " " for c in url)
    if parts.scheme not in ("http", "https") or not host or not _is_host(host) or not printable:
        raise BadInputError("not a base URL", place=place, expected="https://HOST/v1 or http://HOST:PORT/v1")
    if parts.path.rstrip("/").endswith("/chat/completions"):
        raise BadInputError(
            "a base URL ends before /chat/completions, which is added to it",
            place=place,
            expected="https://HOST/v1 or http://HOST:PORT/v1",
        )
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise BadInputError(
            "a base URL holds no user info, query or fragment",
            place=place,
            expected=f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}",
            hint="a key comes from an environment variable: `--api-key-env NAME`",
        )
    return url.rstrip("/")


def check_proxy(url: str, place: str) -> str:
    """A proxy's URL, with its scheme where the environment leaves it out.

    Raises:
        BadInputError: It is no HTTP proxy; the value, which may hold a password, is not repeated.
    """
    whole = url if "://" in url else f"http://{url}"
    try:
        parts = urlsplit(whole)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise BadInputError(
            "not a proxy that can be used",
            place=place,
            expected="http://HOST:PORT",
            hint="the environment names it (`HTTPS_PROXY`, `HTTP_PROXY`); `NO_PROXY` lists hosts that need none",
        )
    return whole


def _is_host(host: str) -> bool:
    """Whether a name can be looked up: each label 1 to 63 bytes (RFC 1035, 2.3.4); one dot at the end goes."""
    try:
        host.removesuffix(".").encode("idna")
    except UnicodeError:
        return False
    return True


def host_of(base_url: str) -> str:
    """Host and, where stated, port of a base URL: the default label of a target."""
    return urlsplit(base_url).netloc.lower()
