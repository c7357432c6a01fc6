"""The type of any JSON value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007
"""A JSON value that nobody writes to; what parsers give and functions take."""

JsonObject: TypeAlias = Mapping[str, Json]
