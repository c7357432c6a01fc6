"""From options, providers.toml and environment to the endpoint that a run asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from trunchbuild.cli.settings import provider_files, proxy_for, secret
from trunchbuild.cli.wiring import App
from trunchbuild.core.json_types import Json
from trunchbuild.core.providers import (
    DEFAULT_KEY_VARIABLE,
    Provider,
    check_base_url,
    check_proxy,
    host_of,
    is_variable,
    read_providers,
)
from trunchbuild.core.run_spec import LimitField, ThinkingSwitch
from trunchbuild.effects.endpoint.api import Target
from trunchbuild.errors import UsageError

LOCAL = "local"
"""The provider that is always there: the embedded server."""
LOCAL_CONTEXT = 4096
"""Tokens that each slot of the embedded server can hold."""


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """What the user said about the target."""

    model: str | None
    base_url: str | None
    provider: str | None
    label: str | None
    api_key_env: str | None
    gguf: Path | None
    slots: int | None


@dataclass(frozen=True, slots=True)
class ChosenTarget:
    """The endpoint of a run, ready to be asked."""

    target: Target
    model: str
    label: str
    model_sha256: str | None = None
    most_connections: int | None = None
    rpm: float | None = None
    thinking: ThinkingSwitch = "reasoning_effort"
    limit_field: LimitField = "max_tokens"
    record: Mapping[str, Json] = field(default_factory=dict)
    """For `run.json`: names of variables, never values."""


@contextmanager
def chosen_target(app: App, choice: TargetChoice) -> Iterator[ChosenTarget]:
    """Resolve the target; the embedded server runs for as long as the context is open.

    Raises:
        UsageError: No target, an unknown provider, a variable that is not set, options that do not go together.
        LocalModelMissingError: The embedded server or its model is not installed.
    """
    if choice.provider == LOCAL:
        with _local(app, choice) as target:
            yield target
        return
    if choice.gguf is not None or choice.slots is not None:
        raise UsageError("`--gguf` and `--slots` belong to the embedded server", hint="add `--provider local`")
    if choice.model is None:
        raise UsageError("which model?", expected="`--model ID`", hint="or `--provider local`, the embedded one")
    yield _remote(app, choice, choice.model)


@contextmanager
def _local(app: App, choice: TargetChoice) -> Iterator[ChosenTarget]:
    if choice.base_url is not None or choice.api_key_env is not None:
        raise UsageError("the embedded server has its own address and key", hint="drop `--base-url`, `--api-key-env`")
    with app.local_model.serve(gguf=choice.gguf, slots=choice.slots, context=LOCAL_CONTEXT) as served:
        yield ChosenTarget(
            target=Target(served.base_url, served.api_key),
            model=choice.model or served.model_name,
            label=choice.label or LOCAL,
            model_sha256=served.gguf_sha256,
            most_connections=choice.slots or 1,
            thinking="enable_thinking",
            record={"provider": LOCAL, "local_server": dict(served.settings)},
        )


def _remote(app: App, choice: TargetChoice, model: str) -> ChosenTarget:
    provider = None if choice.provider is None else _provider(app, choice.provider)
    if choice.base_url is not None:
        base_url = check_base_url(choice.base_url, "--base-url")
    elif provider is not None:
        base_url = provider.base_url
    elif app.settings.openai_base_url:
        base_url = check_base_url(app.settings.openai_base_url, "OPENAI_BASE_URL")
    else:
        raise UsageError(
            "which endpoint?",
            expected="`--base-url URL`, `--provider NAME` or the variable OPENAI_BASE_URL",
            hint="`--provider local` needs no endpoint: it runs a small model here",
        )
    if choice.api_key_env is not None and not is_variable(choice.api_key_env):
        raise UsageError(
            "`--api-key-env` takes the name of an environment variable",
            got="something else",
            hint="a key itself never stands in a command, which other users of the machine can see",
        )
    variable = choice.api_key_env or (provider.api_key_env if provider else None)
    headers = provider.headers if provider else {}
    proxy = proxy_for(base_url)
    record: dict[str, Json] = {
        "provider": choice.provider,
        "base_url": base_url,
        "api_key_env": variable or DEFAULT_KEY_VARIABLE,
        "headers_env": dict(headers),
    }
    return ChosenTarget(
        target=Target(
            base_url,
            _secret(variable) if variable else _checked(DEFAULT_KEY_VARIABLE, secret(DEFAULT_KEY_VARIABLE)),
            {name: _secret(of) for name, of in headers.items()},
            None if proxy is None else check_proxy(proxy, "the proxy for this endpoint"),
        ),
        model=model,
        label=choice.label or choice.provider or host_of(base_url),
        rpm=provider.rpm if provider else None,
        thinking=provider.thinking if provider else "reasoning_effort",
        limit_field=provider.limit_field if provider else "max_tokens",
        record=record,
    )


def _provider(app: App, name: str) -> Provider:
    known: list[str] = [LOCAL]
    for path in provider_files():
        if app.files.exists(path):
            providers = read_providers(app.files.read(path).decode("utf-8", "replace"), str(path))
            if name in providers:
                return providers[name]
            known += providers
    raise UsageError(
        "no such provider",
        expected=" or ".join(f"`{provider}`" for provider in known),
        got=f"`{name}`",
        hint="providers are described in providers.toml, here or in the user's configuration folder",
    )


def _secret(variable: str) -> str:
    value = _checked(variable, secret(variable))
    if value is None:
        raise UsageError(f"the variable {variable} is not set", hint="it holds a secret that the endpoint asks for")
    return value


def _checked(variable: str, value: str | None) -> str | None:
    """A header cannot hold line breaks; the value itself is never shown."""
    if value is not None and not (value.isascii() and value.isprintable()):
        raise UsageError(f"the value of {variable} cannot be sent in a header", expected="printable ASCII characters")
    return value
