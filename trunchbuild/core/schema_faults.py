"""Faults in an author's words from a JSON Schema: where, what was expected, what stands there.

A subschema's `title` says what is expected there. Slow; asked only about values that were refused already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from trunchbuild.core.declared import pointer_token, unknown_key
from trunchbuild.core.fields import kind_of
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.errors import Fault

if TYPE_CHECKING:
    from jsonschema import ValidationError


class SchemaFaults:
    """Explains values by one schema (2020-12)."""

    __slots__ = ("_validator",)

    def __init__(self, schema: JsonObject) -> None:
        from jsonschema import Draft202012Validator  # noqa: PLC0415 - takes 150 ms to import, and most inputs are right

        self._validator = Draft202012Validator(dict(schema))

    def is_valid(self, value: Json) -> bool:
        """Whether the value follows the schema."""
        return self._validator.is_valid(value)

    def of(self, value: Json, place: str) -> Iterator[Fault]:
        """Every fault of a value, in the order of its members; a JSON pointer follows `place`."""
        errors = sorted(
            self._validator.iter_errors(value), key=lambda error: [str(step) for step in error.absolute_path]
        )
        mistyped = {tuple(error.absolute_path) for error in errors if error.validator == "type"}
        for error in errors:
            # Of a value of a wrong type nothing else is worth saying.
            if error.validator == "type" or tuple(error.absolute_path) not in mistyped:
                yield from _faults(error, place)


def _faults(error: ValidationError, place: str) -> Iterator[Fault]:
    pointer = "".join(f"/{pointer_token(str(step))}" for step in error.absolute_path)
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    value = cast("Json", error.instance)
    properties = schema.get("properties", {})
    if error.validator == "additionalProperties" and schema.get("additionalProperties") is False:
        for key in cast("JsonObject", value):
            if key not in properties:
                yield unknown_key(f"{place} {pointer}/{pointer_token(key)}", key, tuple(properties))
    elif error.validator == "required":
        # jsonschema reports each missing member alone, quoted at the beginning of its message.
        for key in schema["required"]:
            if error.message.startswith(f"{key!r} "):
                yield Fault(f"{place} {pointer}/{pointer_token(key)}", "missing", properties.get(key, {}).get("title"))
    else:
        expected = schema.get("title") or f"{error.validator} {error.validator_value}"
        yield Fault(f"{place} {pointer}".rstrip(), "wrong value", expected, shown(value))


def shown(value: Json) -> str:
    """A value for a message: itself where it is short, else its kind and size."""
    if isinstance(value, str):
        return ascii(value) if len(value) <= 60 else f"a string of {len(value):,} characters"
    if value is None or isinstance(value, bool | int | float):
        return (
            {None: "null", True: "true", False: "false"}[value]
            if value is None or isinstance(value, bool)
            else str(value)
        )
    if isinstance(value, Sequence | Mapping) and not value:
        return f"{kind_of(value)} that is empty"
    return kind_of(value)
