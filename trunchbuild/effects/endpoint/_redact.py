"""Keeps secrets out of what an endpoint says back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote

from trunchbuild.core.json_types import Json

MARK = "[redacted]"
SHORTEST_SECRET = 8
"""A shorter value (`none`, `dummy`) guards nothing, and would be cut out of a model's own words."""


class Redactor:
    """Replaces the values of key and headers, as they are and in the spellings that servers echo."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._plain = sorted({secret for secret in secrets if len(secret) >= SHORTEST_SECRET}, key=len, reverse=True)
        spellings: dict[bytes, None] = {}
        for secret in self._plain:
            for text in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), _base64(secret)):
                spellings[text.encode()] = None
        self._spellings = tuple(spellings)

    def clean(self, data: bytes) -> bytes:
        """The data without secrets; the same object where there is none."""
        for spelling in self._spellings:
            if spelling in data:
                data = data.replace(spelling, MARK.encode())
        if self._plain and (b"\\u" in data or b"\\/" in data):
            return self._clean_escaped(data)
        return data

    def clean_text(self, text: str) -> str:
        """The text without secrets."""
        return self.clean(text.encode("utf-8", "backslashreplace")).decode() if self._spellings else text

    def _clean_escaped(self, data: bytes) -> bytes:
        """JSON can spell any character as an escape: look at the values; write anew what holds a secret."""
        try:
            value = json.loads(data.decode("utf-8"))
            cleaned = self._clean_value(value)
            return data if cleaned == value else json.dumps(cleaned).encode()
        except ValueError:
            return data  # no JSON: an escape is two characters and no spelling of anything
        except RecursionError:
            return MARK.encode()

    def _clean_value(self, value: Json) -> Json:
        if isinstance(value, str):
            for secret in self._plain:
                value = value.replace(secret, MARK)
            return value
        if isinstance(value, list):
            return [self._clean_value(item) for item in value]
        if isinstance(value, dict):
            return {str(self._clean_value(name)): self._clean_value(item) for name, item in value.items()}
        return value


def _base64(secret: str) -> str:
    return base64.b64encode(secret.encode()).decode().rstrip("=")
