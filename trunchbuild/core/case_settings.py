"""What the harness obeys and a release states: limits, sampling, tools. Used by config, eval, case and manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trunchbuild.core.case_shape import is_repository_path
from trunchbuild.core.fields import Fields
from trunchbuild.core.json_types import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Limits:
    """How far one trial may go; None leaves it to the next wider level (case, eval, run)."""

    max_steps: int | None = None
    max_tool_calls: int | None = None
    """May be 0: no tool call at all."""
    max_output_tokens: int | None = None

    @classmethod
    def read(cls, value: Json, place: str) -> Limits:
        """Read the JSON form (`maxSteps`, `maxToolCalls`, `maxOutputTokens`).

        Raises:
            BadInputError: An unknown member, or one that is no positive integer (`maxToolCalls` may be 0).
        """
        fields = Fields(value, place)
        limits = cls(
            max_steps=fields.optional("maxSteps", lambda name: fields.integer(name, 1)),
            max_tool_calls=fields.optional("maxToolCalls", fields.integer),
            max_output_tokens=fields.optional("maxOutputTokens", lambda name: fields.integer(name, 1)),
        )
        fields.end()
        return limits

    def json(self) -> JsonObject:
        """The JSON form; what is not set is absent."""
        named = {
            "maxSteps": self.max_steps,
            "maxToolCalls": self.max_tool_calls,
            "maxOutputTokens": self.max_output_tokens,
        }
        return {name: value for name, value in named.items() if value is not None}

    def over(self, wider: Limits) -> Limits:
        """These limits where they are set, else the wider level's."""
        return Limits(
            max_steps=wider.max_steps if self.max_steps is None else self.max_steps,
            max_tool_calls=wider.max_tool_calls if self.max_tool_calls is None else self.max_tool_calls,
            max_output_tokens=wider.max_output_tokens if self.max_output_tokens is None else self.max_output_tokens,
        )


NO_LIMITS = Limits()
"""Nothing is limited at this level."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn, where the release fixes it; None leaves it to the run."""

    temperature: int | float | None = None
    top_p: int | float | None = None
    seed: int | None = None
    stop: tuple[str, ...] | None = None
    think: bool | None = None

    @classmethod
    def read(cls, value: Json, place: str) -> Sampling:
        """Read the JSON form (`temperature`, `topP`, `seed`, `stop`, `think`); `stop` may be one string.

        Raises:
            BadInputError: An unknown member or a wrong type.
        """
        fields = Fields(value, place)
        stop: tuple[str, ...] | None = None
        if fields.has("stop"):
            one = isinstance(value, Mapping) and isinstance(value["stop"], str)
            stop = (fields.text("stop"),) if one else fields.texts("stop")
        sampling = cls(
            temperature=fields.optional("temperature", fields.number),
            top_p=fields.optional("topP", fields.number),
            seed=fields.optional("seed", fields.integer),
            stop=stop,
            think=fields.optional("think", fields.boolean),
        )
        fields.end()
        return sampling


NO_SAMPLING = Sampling()
"""Everything is left to the run."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that an eval offers to the model."""

    description: str
    input_schema: JsonObject
    """JSON Schema of the tool's input, as the model gets it."""
    module: str | None
    """Repository path of the module that runs it; None for a fixture task."""

    @classmethod
    def read(cls, value: Json, place: str) -> Tool:
        """Read the manifest's form (`description`, `inputSchema`, `module`).

        Raises:
            BadInputError: A member is missing, unknown or of a wrong type.
        """
        fields = Fields(value, place)
        tool = cls(
            description=fields.text("description"),
            input_schema=fields.mapping("inputSchema"),
            module=fields.optional("module", fields.text),
        )
        fields.end()
        if tool.module is not None and not is_repository_path(tool.module):
            raise fields.wrong("module", "a repository path", ascii(tool.module))
        return tool

    def json(self) -> JsonObject:
        """The manifest's form."""
        value: dict[str, Json] = {"description": self.description, "inputSchema": self.input_schema}
        if self.module is not None:
            value["module"] = self.module
        return value
