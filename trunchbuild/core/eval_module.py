"""Eval modules: an eval's facts, where its cases come from, how they are graded; `docs/authoring.md`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from trunchbuild.core.benchmark import (
    BenchmarkConfig,
    InvalidBenchmarkError,
    ToolDeclaration,
    finish,
    read_limits,
    read_tools,
)
from trunchbuild.core.case_settings import NO_LIMITS, Limits
from trunchbuild.core.declared import Declared
from trunchbuild.core.fields import kind_of
from trunchbuild.core.grading import check_specification, resolve_kind
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import CustomEvaluator
from trunchbuild.errors import Fault

MAX_SOURCES = 16
CUSTOM = "custom"
"""The kind of an evaluator that is a function of the repository."""

_EVAL_KEYS = ("id", "title", "description", "systemPrompt", "tools", "limits", "cases", "evaluate")
_EVAL_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}\Z")
_SOURCE_NAME = re.compile("[^\x00-\x1f\x7f-\x9f]{1,128}\\Z")
_EXPORT = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")


@dataclass(frozen=True, slots=True)
class InlineCases:
    """Cases that stand in the eval module itself; not yet checked."""

    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class CaseFile:
    """Cases of a `.jsonl` or `.json` file."""

    path: str
    """Repository path."""


@dataclass(frozen=True, slots=True)
class TransformerCases:
    """Cases that a transformer makes of sources."""

    transformer: str
    """Repository path of the entry module."""
    sources: Mapping[str, str]
    """Name -> repository path, in the author's order."""


CaseOrigin: TypeAlias = InlineCases | CaseFile | TransformerCases


@dataclass(frozen=True, slots=True)
class BuiltInEvaluator:
    """A specification that passed its checks; its `kind` has its number."""

    specification: JsonObject


Evaluator: TypeAlias = BuiltInEvaluator | CustomEvaluator


@dataclass(frozen=True, slots=True)
class EvalDefinition:
    """One eval, with the config's defaults merged in; every path is a repository path."""

    path: str
    """Of the eval module."""
    id: str
    title: str
    cases: CaseOrigin
    evaluate: Evaluator
    """For cases without their own."""
    description: str | None = None
    system_prompt: str | None = None
    limits: Limits = NO_LIMITS
    tools: Mapping[str, ToolDeclaration] = field(default_factory=dict)


def parse_eval(value: Json, functions: frozenset[str], path: str, config: BenchmarkConfig) -> EvalDefinition:
    """Read one eval module's default export; `functions` are the JSON pointers of its members that are functions.

    Raises:
        InvalidBenchmarkError: It has faults; all are listed, each with its JSON pointer.
    """
    if not isinstance(value, Mapping):
        got = "a function" if "" in functions else kind_of(value)
        raise InvalidBenchmarkError("not an eval", place=path, expected="an object", got=got)
    faults: list[Fault] = []
    declared = Declared(value, path, _EVAL_KEYS, faults)
    for pointer in sorted(functions - {"/evaluate"}):
        hint = "a tool that runs is a module of its own: name its path" if pointer.startswith("/tools/") else None
        faults.append(Fault(f"{path} {pointer}", "a function", "a JSON value", hint=hint))
    eval_id = declared.line("id")
    if eval_id is not None and not _EVAL_ID.match(eval_id):
        declared.wrong("id", "an id of a-z, 0-9 and `._-`, beginning with a letter or digit, at most 128", eval_id)
    title = declared.line("title")
    origin = _origin(declared, path)
    evaluate = _evaluator(declared, path, config, is_function="/evaluate" in functions)
    tools = read_tools(declared, path)
    limits = read_limits(declared)
    description, system_prompt = declared.text("description"), declared.text("systemPrompt")
    finish(faults, path)
    assert origin is not None
    assert evaluate is not None
    return EvalDefinition(
        path=path,
        id=eval_id or "",
        title=title or "",
        cases=origin,
        evaluate=evaluate,
        description=description,
        system_prompt=config.system_prompt if system_prompt is None else system_prompt,
        limits=limits.over(config.limits),
        tools={**(config.tools or {}), **(tools or {})},
    )


def check_distinct(evals: Iterable[EvalDefinition]) -> None:
    """Refuse two evals of one id.

    Raises:
        InvalidBenchmarkError: Names both modules of each id that occurs twice.
    """
    seen: dict[str, str] = {}
    faults: list[Fault] = []
    for definition in evals:
        if definition.id in seen:
            faults.append(
                Fault(
                    f"{definition.path} /id",
                    f"eval id `{definition.id}` occurs twice",
                    hint=f"first in {seen[definition.id]}",
                )
            )
        seen.setdefault(definition.id, definition.path)
    if faults:
        raise InvalidBenchmarkError("eval ids are not distinct", faults=faults)


def _origin(declared: Declared, path: str) -> CaseOrigin | None:
    expected = "an array of cases, the path of a .jsonl or .json file, or {transformer, sources}"
    if not declared.required("cases", expected):
        return None
    value = declared.get("cases")
    if isinstance(value, str):
        file = declared.path("cases", value, path)
        if file is not None and not file.endswith((".jsonl", ".json")):
            declared.wrong("cases", "a path that ends in .jsonl or .json", value)
        return CaseFile(file) if file is not None else None
    if isinstance(value, Mapping):
        return _transformer(declared, value, path)
    if isinstance(value, Sequence):
        return InlineCases(tuple(value))
    declared.wrong("cases", expected, value)
    return None


def _transformer(declared: Declared, value: JsonObject, path: str) -> TransformerCases | None:
    form = declared.inner("cases", value, ("transformer", "sources"))
    transformer = None
    if form.required("transformer", "the path of a module"):
        transformer = form.path("transformer", form.get("transformer"), path)
    form.required("sources", "an object of source names")
    sources = form.mapping("sources", "an object of source names") or {}
    if form.has("sources") and not 1 <= len(sources) <= MAX_SOURCES:
        form.faults.append(
            Fault(form.place("sources"), "wrong number of sources", f"1 to {MAX_SOURCES}", str(len(sources)))
        )
    named = form.inner("sources", sources, tuple(sources))
    resolved: dict[str, str] = {}
    for name, item in sources.items():
        if not _SOURCE_NAME.match(name):
            named.wrong(name, "a name of 1 to 128 characters without control characters", name)
        file = named.path(name, item, path)
        if file is not None:
            resolved[name] = file
    return TransformerCases(transformer, resolved) if transformer is not None else None


def _evaluator(declared: Declared, path: str, config: BenchmarkConfig, *, is_function: bool) -> Evaluator | None:
    if is_function:
        return CustomEvaluator(module=path, member="default.evaluate")
    if not declared.required(
        "evaluate", "a built-in specification, a function, or {kind: custom}", "it grades the cases that bring none"
    ):
        return None
    value = declared.mapping("evaluate", "a built-in specification, a function, or {kind: custom}")
    if value is None:
        return None
    if value.get("kind") == CUSTOM:
        return _custom(declared.inner("evaluate", value, ("kind", "evaluatorKey", "sourcePath")), config)
    faults = check_specification(value, f"{path} /evaluate")
    if faults:
        declared.faults.extend(faults)
        return None
    return BuiltInEvaluator(resolved_specification(value))


def resolved_specification(value: JsonObject) -> JsonObject:
    """A checked specification whose kind has its number."""
    return {**value, "kind": resolve_kind(str(value["kind"]))}


def _custom(declared: Declared, config: BenchmarkConfig) -> CustomEvaluator | None:
    """`{kind: custom, evaluatorKey: "evaluators/x.ts#default", sourcePath: "evaluators/x.ts"}`."""
    declared.required("evaluatorKey", "path#export")
    declared.required("sourcePath", "the path of a module")
    key, source = declared.get("evaluatorKey"), declared.get("sourcePath")
    module = declared.path("sourcePath", source, config.path) if declared.has("sourcePath") else None
    if not declared.has("evaluatorKey"):
        return None
    file, mark, member = key.rpartition("#") if isinstance(key, str) else ("", "", "")
    if not mark or not _EXPORT.match(member):
        declared.wrong("evaluatorKey", "path#export, such as `evaluators/x.ts#default`", key)
        return None
    keyed = declared.path("evaluatorKey", file, config.path)
    if module is not None and keyed is not None and keyed != module:
        declared.wrong("evaluatorKey", f"the file of `sourcePath` ({source})", key)
    return CustomEvaluator(module, member) if module is not None else None
