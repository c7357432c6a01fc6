"""A case as the code that asks models may see it: one line of `cases.jsonl`, nothing of the private part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trunchbuild.core.case_settings import NO_LIMITS, NO_SAMPLING, Limits, Sampling, Tool
from trunchbuild.core.case_shape import follows_public_line
from trunchbuild.core.fields import Fields, kind_of
from trunchbuild.core.ids import CaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.manifest import CASES, EvalEntry
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError

Tag = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PublicCase:
    """The public part of a case: only its own values, not those of its eval."""

    case: CaseId
    prompt: str
    system_prompt: str | None
    description: str | None
    tools: tuple[str, ...] | None
    """Names; None where the case says nothing."""
    limits: Limits
    sampling: Sampling
    fixtures: Json
    """Fixed tool results by turn; None where there are none."""
    tags: Mapping[str, Tag]
    sandbox: JsonObject | None
    """A case with `{"required": true}` needs an environment and is never run without."""

    @classmethod
    def parse(cls, line: bytes, place: str = CASES) -> PublicCase:
        """Read one line (without LF).

        Raises:
            BadInputError: It does not follow `schemas/cases-line.schema.json`.
        """
        return cls.read(read_json(line, place), place)

    @classmethod
    def read(cls, value: Json, place: str = CASES) -> PublicCase:
        """Read the parsed line.

        Raises:
            BadInputError: It does not follow `schemas/cases-line.schema.json`.
        """
        fields = Fields(value, place)
        case = cls(
            case=read_case_id(fields),
            prompt=_filled(fields, "prompt"),
            system_prompt=fields.optional("systemPrompt", fields.text),
            description=fields.optional("description", fields.text),
            tools=fields.optional("tools", fields.texts),
            limits=Limits.read(fields.take("limits"), fields.place("limits")) if fields.has("limits") else NO_LIMITS,
            sampling=Sampling.read(fields.take("sampling"), fields.place("sampling"))
            if fields.has("sampling")
            else NO_SAMPLING,
            fixtures=fields.optional("fixtures", fields.take),
            tags=_tags(fields) if fields.has("tags") else {},
            sandbox=fields.optional("sandbox", fields.mapping),
        )
        fields.end()
        if not follows_public_line(value):
            raise BadInputError("does not follow schemas/cases-line.schema.json", place=place)
        return case

    @property
    def needs_environment(self) -> bool:
        """Whether the case may only run inside an environment of its own."""
        return self.sandbox is not None and self.sandbox.get("required") is True


@dataclass(frozen=True, slots=True)
class EffectiveCase:
    """What holds for one case after its eval's values fill what the case leaves open."""

    case: CaseId
    prompt: str
    system_prompt: str | None
    limits: Limits
    sampling: Sampling
    tools: Mapping[str, Tool]
    """The tools that the model is offered, by name, in the case's order."""


def effective(case: PublicCase, entry: EvalEntry) -> EffectiveCase:
    """Merge a case with its eval. A case without `tools` is offered all tools of its eval; `[]` means none.

    Raises:
        BadInputError: The case names a tool that its eval does not declare.
    """
    declared = entry.tools or {}
    names: Sequence[str] = tuple(declared) if case.tools is None else case.tools
    for name in names:
        if name not in declared:
            raise BadInputError(
                "the eval declares no such tool",
                place=f"case {case.case}",
                expected=" or ".join(f"`{known}`" for known in declared) or "no tool",
                got=f"`{name}`",
            )
    return EffectiveCase(
        case=case.case,
        prompt=case.prompt,
        system_prompt=entry.system_prompt if case.system_prompt is None else case.system_prompt,
        limits=case.limits.over(entry.limits),
        sampling=case.sampling,
        tools={name: declared[name] for name in names},
    )


def read_case_id(fields: Fields) -> CaseId:
    """Read the members `eval` and `id` of a line."""
    return CaseId(_filled(fields, "eval"), _filled(fields, "id"))


def _filled(fields: Fields, name: str) -> str:
    value = fields.text(name)
    if not value:
        raise fields.wrong(name, "a string that is not empty", "an empty one")
    return value


def _tags(fields: Fields) -> Mapping[str, Tag]:
    tags: dict[str, Tag] = {}
    for name, value in fields.mapping("tags").items():
        if isinstance(value, str | bool | int | float):
            tags[name] = value
        elif isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
            tags[name] = tuple(item for item in value if isinstance(item, str))
        else:
            raise fields.wrong(f"tags/{name}", "a string, number, boolean or list of strings", kind_of(value))
    return tags
