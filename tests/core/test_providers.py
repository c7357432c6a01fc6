"""providers.toml and base URLs; secrets never stand in them, and what looks like one is not repeated."""

from __future__ import annotations

import pytest

from trunchbuild.core.providers import Provider, check_base_url, check_proxy, host_of, read_providers
from trunchbuild.errors import BadInputError

WHOLE = """
[gateway]
base_url = "https://llm.example/v1/"
api_key_env = "GATEWAY_KEY"
api = "chat"
rpm = 30
thinking = "enable_thinking"
limit_field = "max_completion_tokens"
headers = { X-Team = "TEAM_TOKEN" }

[small]
base_url = "http://127.0.0.1:8000/v1"
"""


def test_every_member() -> None:
    providers = read_providers(WHOLE, "providers.toml")
    assert providers["gateway"] == Provider(
        name="gateway",
        base_url="https://llm.example/v1",
        api_key_env="GATEWAY_KEY",
        rpm=30,
        headers={"X-Team": "TEAM_TOKEN"},
        thinking="enable_thinking",
        limit_field="max_completion_tokens",
    )
    assert providers["small"] == Provider("small", "http://127.0.0.1:8000/v1")


@pytest.mark.parametrize(
    "line",
    [
        "base_url = 3",
        "",
        'base_url = "http://h/v1"\nbase_uri = "x"',
        'base_url = "http://h/v1"\nrpm = 0',
        'base_url = "http://h/v1"\nrpm = inf',
        'base_url = "http://h/v1"\nrpm = nan',
        'base_url = "http://h/v1"\nthinking = "hard"',
        'base_url = "http://h/v1"\napi = "responses"',
        'base_url = "http://h/v1"\nheaders = { Content-Length = "X" }',
        'base_url = "http://h/v1"\nheaders = { "X Team" = "X" }',
        'base_url = "http://h/v1"\nrpm = 2026-01-01',
        "base_url = [",
    ],
)
def test_broken_tables_are_refused(line: str) -> None:
    with pytest.raises(BadInputError, match=r"providers\.toml"):
        read_providers(f"[p]\n{line}\n", "providers.toml")


def test_a_secret_in_the_place_of_a_variables_name_is_not_repeated() -> None:
    """R80: who writes the key itself into the file is told so, without the key."""
    for line in ('api_key_env = "sk-canary-71"', 'headers = { X-Team = "canary-72 x" }'):
        with pytest.raises(BadInputError) as caught:
            read_providers(f'[p]\nbase_url = "http://h/v1"\n{line}\n', "providers.toml")
        assert "canary" not in repr([caught.value, caught.value.faults])


@pytest.mark.parametrize(
    "url",
    [
        "http://h/v1",
        "https://h:8443/v1",
        "http://[::1]:80/v1",
        "http://127.0.0.1:9",
        "http://a_b.h./v1",
        f"http://{'a' * 63}.h/v1",
    ],
)
def test_base_urls(url: str) -> None:
    assert check_base_url(url + "/", "x") == url


@pytest.mark.parametrize(
    "url",
    [
        "h/v1",
        "ftp://h/v1",
        "http://",
        "http://h:99999/v1",
        "http://u:canary@h/v1",
        "http://canary@h/v1",
        "http://h/v1?key=canary",
        "http://h/v1#canary",
        "http://h/v 1",
        "http://h/\nv1",
        "http://[::1/v1",
        "http://h/v1/chat/completions",  # would be added twice
        "http://h/v1?",  # the path that is added would become a query
        "http://h/v1#",
        "http://@h/v1",
        "http://a..b/v1",
        "http://.h/v1",
        f"http://{'a' * 64}.h/v1",  # RFC 1035: a label has at most 63 bytes
    ],
)
def test_what_is_no_base_url(url: str) -> None:
    """R80: user info and queries hold secrets; they are refused and not repeated."""
    with pytest.raises(BadInputError) as caught:
        check_base_url(url, "--base-url")
    assert "canary" not in repr([caught.value, caught.value.faults])


@pytest.mark.parametrize(
    ("url", "used"),
    [
        ("http://p:3128", "http://p:3128"),
        ("p:3128", "http://p:3128"),
        ("u:canary@p:3128", "http://u:canary@p:3128"),
        ("https://p", "https://p"),
    ],
)
def test_proxies(url: str, used: str) -> None:
    assert check_proxy(url, "x") == used


@pytest.mark.parametrize("url", ["socks5://canary@p:1080", "http://canary@:1", "canary@p:99999", "http://", ":"])
def test_what_is_no_http_proxy(url: str) -> None:
    with pytest.raises(BadInputError) as caught:
        check_proxy(url, "HTTPS_PROXY")
    assert "canary" not in repr([caught.value, caught.value.faults])


def test_what_was_expected_names_the_port() -> None:
    with pytest.raises(BadInputError) as caught:
        check_base_url("http://u:canary@h:8000/v1", "--base-url")
    assert caught.value.faults[0].expected == "http://h:8000/v1"


def test_label_from_host() -> None:
    assert host_of("https://LLM.Example:8443/v1") == "llm.example:8443"
