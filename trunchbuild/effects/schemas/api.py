"""The JSON Schemas (2020-12) of every file format, the same files that validation uses and the docs publish."""

from __future__ import annotations

from typing import Protocol

from trunchbuild.core.json_types import JsonObject


class Schemas(Protocol):
    """Schemas by name."""

    def read(self, name: str) -> JsonObject:
        """The schema `NAME.schema.json`, `case` for instance.

        Raises:
            MachineError: This installation lacks the file or it is damaged.
        """
        ...

    def names(self) -> list[str]:
        """Every schema's name, sorted."""
        ...
