"""Schemas as they lie in the installed package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError, MachineError

_ENDING = ".schema.json"


class PackageSchemas:
    """Reads `trunchbuild/schemas/NAME.schema.json`, from a folder or a zip."""

    def __init__(self) -> None:
        self._folder: Traversable = files("trunchbuild") / "schemas"

    def read(self, name: str) -> JsonObject:
        """The schema of that name."""
        file = f"{name}{_ENDING}"
        try:
            schema = read_json((self._folder / file).read_bytes(), file)
        except (OSError, BadInputError) as error:
            hint = "install trunchbuild again"
            raise MachineError(
                "a schema of this installation cannot be read", place=file, got=str(error), hint=hint
            ) from None
        assert isinstance(schema, Mapping)
        return schema

    def names(self) -> list[str]:
        """Every schema's name, sorted."""
        found = (entry.name for entry in self._folder.iterdir())
        return sorted(name.removesuffix(_ENDING) for name in found if name.endswith(_ENDING))
