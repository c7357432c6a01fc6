"""What a run asks of whom: everything that shapes its trials and their requests, and nothing else.

The canonical form's SHA-256 is the run id. Concurrency, retries, time-outs, machine and key stay out of it: they do not
change what is asked. A member that a later version adds appears only where it is used, so that old runs keep their id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from trunchbuild.core.canonical import canonical_bytes, digest_of
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import CaseId, Digest, ReleaseId, RunId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.errors import BadInputError

RUN_TYPE = "trunchbuild.run/v1"
HARNESS_PROTOCOL = 1
"""Raised whenever the same spec would make other requests or read replies in another way."""

DEFAULT_OUTPUT_TOKENS = 32_768
"""Where neither the release nor the user limits the output."""

Api = Literal["chat"]
LimitField = Literal["max_tokens", "max_completion_tokens"]
ThinkingSwitch = Literal["reasoning_effort", "enable_thinking", "none"]
ThinkingLevel = Literal["off", "on", "minimal", "low", "medium", "high"]

LIMIT_FIELDS: tuple[LimitField, ...] = get_args(LimitField)
THINKING_SWITCHES: tuple[ThinkingSwitch, ...] = get_args(ThinkingSwitch)
THINKING_LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)

_T = TypeVar("_T", bound=str)


@dataclass(frozen=True, slots=True)
class RequestSettings:
    """What shapes a request body beside the case; a value of the release goes before one of these."""

    temperature: int | float | None = 0
    """None leaves the member out of the body."""
    top_p: int | float | None = None
    seed: int | None = None
    """The first repeat's; repeat n asks with seed + n, since equal seeds would draw the same reply again."""
    max_output_tokens: int = DEFAULT_OUTPUT_TOKENS
    limit_field: LimitField = "max_tokens"
    """The body's name for the output limit."""
    thinking: ThinkingLevel | None = None
    thinking_switch: ThinkingSwitch = "reasoning_effort"
    """How this endpoint is told to think or not."""
    api: Api = "chat"

    def json(self) -> JsonObject:
        """The canonical members; what is not set is absent."""
        named: dict[str, Json] = {
            "api": self.api,
            "stream": False,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "seed": self.seed,
            "max_output_tokens": self.max_output_tokens,
            "limit_field": self.limit_field,
            "thinking": self.thinking,
            "thinking_switch": self.thinking_switch,
        }
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One run. Two runs with equal specs ask the same requests in the same order."""

    release: ReleaseId
    evals: tuple[str, ...]
    """Ids of the evals that are run, in the release's order."""
    model: str
    label: str
    """The target: one model behind two gateways is two runs."""
    repeat: int = 1
    limit: int | None = None
    """Only the first so many cases of each eval."""
    cases: tuple[CaseId, ...] | None = None
    """Only these cases, in the release's order."""
    model_sha256: str | None = None
    """Identity of the model's file where it is known, bare hex."""
    request: RequestSettings | None = RequestSettings()
    """None for imported replies: how they were asked for is not known."""

    @property
    def imported(self) -> bool:
        """Whether the replies were made elsewhere."""
        return self.request is None

    @property
    def is_subset(self) -> bool:
        """Whether some cases of the chosen evals are left out by `limit` or `cases`."""
        return self.limit is not None or self.cases is not None

    @property
    def run_id(self) -> RunId:
        """SHA-256 of the canonical form."""
        return digest_of(self.json())

    def canonical_bytes(self) -> bytes:
        """RFC 8785 bytes."""
        return canonical_bytes(self.json())

    def json(self) -> JsonObject:
        """The spec as JSON; what is not set is absent."""
        value: dict[str, Json] = {
            "type": RUN_TYPE,
            "harness": HARNESS_PROTOCOL,
            "release": str(self.release),
            "evals": list(self.evals),
            "model": self.model,
            "label": self.label,
            "repeat": self.repeat,
            "replies": "imported" if self.request is None else "endpoint",
        }
        if self.limit is not None:
            value["limit"] = self.limit
        if self.cases is not None:
            value["cases"] = [{"eval": case.eval, "id": case.id} for case in self.cases]
        if self.model_sha256 is not None:
            value["model_sha256"] = self.model_sha256
        if self.request is not None:
            value["request"] = self.request.json()
        return value


def read_run_spec(value: Json, place: str) -> RunSpec:
    """Read a spec strictly.

    Raises:
        BadInputError: It is none of a version that this build reads.
    """
    fields = Fields(value, place)
    fields.literal("type", RUN_TYPE)
    harness = fields.integer("harness", 1)
    if harness != HARNESS_PROTOCOL:
        raise fields.wrong("harness", f"{HARNESS_PROTOCOL}, which this build reads", str(harness))
    spec = RunSpec(
        release=Digest.parse(fields.text("release")),
        evals=fields.texts("evals"),
        model=fields.text("model"),
        label=fields.text("label"),
        repeat=fields.integer("repeat", 1),
        limit=fields.optional("limit", lambda name: fields.integer(name, 1)),
        cases=_read_cases(fields) if fields.has("cases") else None,
        model_sha256=fields.optional("model_sha256", fields.text),
        request=_read_request(fields) if _choice(fields, "replies", ("endpoint", "imported")) == "endpoint" else None,
    )
    fields.end()
    return spec


def differences(old: RunSpec, new: RunSpec) -> list[str]:
    """The members in which two specs differ, `name: old -> new`, for messages."""
    return _differences(old.json(), new.json(), "")


def _differences(old: JsonObject, new: JsonObject, prefix: str) -> list[str]:
    found: list[str] = []
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if isinstance(before, dict) and isinstance(after, dict):
            found += _differences(before, after, f"{prefix}{name}.")
        elif before != after:
            found.append(f"{prefix}{name}: {_short(before)} -> {_short(after)}")
    return found


def _short(value: Json) -> str:
    text = "not set" if value is None else canonical_bytes(value).decode()
    return text if len(text) <= 80 else f"{text[:80]}..."


def _read_cases(fields: Fields) -> tuple[CaseId, ...]:
    cases: list[CaseId] = []
    for index, item in enumerate(fields.items("cases")):
        case = Fields(item, f"{fields.place('cases')}/{index}")
        cases.append(CaseId(case.text("eval"), case.text("id")))
        case.end()
    return tuple(cases)


def _read_request(outer: Fields) -> RequestSettings:
    fields = Fields(outer.take("request"), outer.place("request"))
    if fields.boolean("stream"):
        raise fields.wrong("stream", "false, which this build reads", "true")
    settings = RequestSettings(
        api=_choice(fields, "api", ("chat",)),
        temperature=fields.optional("temperature", fields.number),
        top_p=fields.optional("top_p", fields.number),
        seed=fields.optional("seed", fields.integer),
        max_output_tokens=fields.integer("max_output_tokens", 1),
        limit_field=_choice(fields, "limit_field", LIMIT_FIELDS),
        thinking=_choice(fields, "thinking", THINKING_LEVELS) if fields.has("thinking") else None,
        thinking_switch=_choice(fields, "thinking_switch", THINKING_SWITCHES),
    )
    fields.end()
    return settings


def _choice(fields: Fields, name: str, choices: Sequence[_T]) -> _T:
    text = fields.text(name)
    for choice in choices:
        if choice == text:
            return choice
    raise fields.wrong(name, " or ".join(f"`{choice}`" for choice in choices), ascii(text))


def choose_evals(known: Sequence[str], asked: Sequence[str]) -> tuple[str, ...]:
    """The evals of a run in the release's order; all where none is asked for.

    Raises:
        BadInputError: An id is unknown.
    """
    for name in asked:
        if name not in known:
            raise BadInputError(
                "the release has no such eval",
                expected=" or ".join(f"`{eval_id}`" for eval_id in known),
                got=f"`{name}`",
            )
    return tuple(eval_id for eval_id in known if not asked or eval_id in asked)
