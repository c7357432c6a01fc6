"""The names by which things are found: digests, commits, cases, runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NewType

from trunchbuild.errors import BadInputError

_HEX64 = re.compile(r"[0-9a-f]{64}\Z")

CommitSha = NewType("CommitSha", str)
"""A full Git object id in lower-case hex: 40 digits (SHA-1) or 64 (SHA-256)."""


@dataclass(frozen=True, slots=True, order=True)
class Digest:
    """A SHA-256 content address; `hex` is 64 lower-case hex digits.

    Written `sha256:<hex>` where it identifies something, bare where a field is named `sha256`.
    """

    hex: str

    def __post_init__(self) -> None:
        """Refuse anything but 64 lower-case hex digits."""
        if not _HEX64.match(self.hex):
            raise BadInputError("not a SHA-256 digest", expected="64 lower-case hex digits", got=repr(self.hex))

    @classmethod
    def parse(cls, text: str) -> Digest:
        """Read the written form `sha256:<hex>`.

        Raises:
            BadInputError: The text is not of that form.
        """
        algorithm, colon, digits = text.partition(":")
        if algorithm != "sha256" or not colon:
            raise BadInputError("not a digest", expected="sha256:<64 hex digits>", got=repr(text))
        return cls(digits)

    @property
    def short(self) -> str:
        """The first 12 hex digits, for people."""
        return self.hex[:12]

    def __str__(self) -> str:
        """The written form, `sha256:<hex>`."""
        return f"sha256:{self.hex}"


ReleaseId = Digest
RunId = Digest


@dataclass(frozen=True, slots=True, order=True)
class CaseId:
    """A case within a release: `eval` and `id` together are unique. Written `EVAL/ID`."""

    eval: str
    id: str

    def __str__(self) -> str:
        """The written form; an eval id holds no slash, so the first slash divides."""
        return f"{self.eval}/{self.id}"
