"""Keeps secrets out of what an endpoint says back."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit

MARK = "[redacted]"
SHORTEST_SECRET = 8
"""A shorter value (`none`, `dummy`) guards nothing, and would be cut out of a model's own words."""


class Redactor:
    """Replaces the values of key and headers, as they are and in the spellings that servers echo."""

    def __init__(self, secrets: Iterable[str]) -> None:
        plain = sorted({secret for secret in secrets if len(secret) >= SHORTEST_SECRET}, key=len, reverse=True)
        spellings: dict[bytes, None] = {}
        for secret in plain:
            encoded = quote(secret, safe="")
            lower = re.sub("%..", lambda escape: escape[0].lower(), encoded)
            for text in (secret, encoded, lower, _base64(secret)):
                spellings[text.encode()] = None
        self._spellings = tuple(spellings)
        self._escaped = _any_of(plain, rb"\\{0,4}(?:%b|(?<=\\)u(?i:%04x))") if plain else None
        self._flat = _any_of([secret.replace("\\", "") for secret in plain], b"(?:%b|u(?i:%04x))") if plain else None

    def clean(self, data: bytes) -> bytes:
        """The data without secrets; the same object where there is none."""
        for spelling in self._spellings:
            if spelling in data:
                data = data.replace(spelling, MARK.encode())
        if self._escaped is not None and self._holds_escaped(data):
            data = self._escaped.sub(MARK.encode(), data)
            return MARK.encode() if self._holds_escaped(data) else data
        return data

    def _holds_escaped(self, data: bytes) -> bool:
        """Whether a secret is there with some of its characters escaped; quick where none is."""
        return b"\\" in data and self._flat is not None and bool(self._flat.search(data.replace(b"\\", b"")))

    def clean_text(self, text: str) -> str:
        """The text without secrets."""
        return self.clean(text.encode("utf-8", "backslashreplace")).decode() if self._spellings else text


def secrets_of_url(url: str | None) -> list[str]:
    """User info of a URL, as it stands there and as it is sent; client errors repeat a proxy's URL whole."""
    user_info = urlsplit(url).netloc.rpartition("@")[0] if url else ""
    password = user_info.partition(":")[2]
    return [text for text in (user_info, unquote(user_info), password, unquote(password)) if text]


def _any_of(secrets: Iterable[str], character: bytes) -> re.Pattern[bytes]:
    """A pattern of the secrets; `character` is that of one character, plain or as JSON escapes it (to any depth)."""
    return re.compile(
        b"|".join(b"".join(character % (re.escape(one.encode()), ord(one)) for one in secret) for secret in secrets)
    )


def _base64(secret: str) -> str:
    return base64.b64encode(secret.encode()).decode().rstrip("=")
