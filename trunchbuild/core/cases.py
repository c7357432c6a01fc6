"""Cases as authors write them: a fast check that accepts, and every fault of what it does not accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.case_shape import MAX_ID, follows_case_schema, is_too_deep
from trunchbuild.core.eval_module import CUSTOM, BuiltInEvaluator, EvalDefinition, resolved_specification
from trunchbuild.core.grading import check_specification
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import CaseLines
from trunchbuild.core.schema_faults import SchemaFaults, shown
from trunchbuild.core.unicode_text import canonical_fold
from trunchbuild.errors import BadInputError, Fault

MAX_CASES: Final = 25_000
"""Of one release, over all its evals."""


class InvalidCasesError(BadInputError):
    """Cases do not follow the contract; every fault is listed with case id and source place."""

    slug: ClassVar[str] = "invalid-cases"


class CaseChecker:
    """Checks the cases of one eval while they stream by; keeps ids and faults, never the cases.

    Without a definition (a transformer tried on its own) tool names and a missing evaluator are left to the eval.
    `schema` is called for `schemas/case.schema.json` only where a fault has to be explained. `already` counts the cases
    of the release's other evals.
    """

    def __init__(
        self, definition: EvalDefinition | None, schema: Callable[[], JsonObject], *, already: int = 0
    ) -> None:
        self.faults: list[Fault] = []
        self.count = 0
        self._tools = None if definition is None else frozenset(definition.tools)
        self._room = MAX_CASES - already
        self._schema = schema
        self._explainer: SchemaFaults | None = None
        self._seen: dict[str, tuple[str, str]] = {}

    def check(self, place: str, value: Json) -> JsonObject | None:
        """Check one case; `place` is where it stands. None means that its faults were noted."""
        self.count += 1
        before = len(self.faults)
        if not follows_case_schema(value):
            self._explain(place, value)
        if not isinstance(value, Mapping):
            return None
        evaluate = value.get("evaluate")
        if isinstance(evaluate, Mapping):
            faults = check_specification(evaluate, "/evaluate")
            if faults:
                self._note_evaluator(place, value, evaluate, faults)
        if "tools" in value and self._tools is not None:
            self._check_tools(place, value)
        case_id = value.get("id")
        if isinstance(case_id, str):
            key = case_id.lower() if case_id.isascii() else canonical_fold(case_id)
            here = (case_id, place)
            first = self._seen.setdefault(key, here)
            if first is not here:
                self._note_duplicate(place, value, first)
        return value if len(self.faults) == before else None

    def is_full(self) -> bool:
        """Whether one case too many was seen, so that reading on makes no sense."""
        return self.count > self._room

    def finish(self, place: str) -> None:
        """Raise what was found; `place` names the source of the cases.

        Raises:
            InvalidCasesError: There are faults, or no case.
        """
        if not self.count:
            self.faults.append(Fault(place, "no cases", f"1 to {MAX_CASES:,}", "none"))
        if self.is_full():
            hint = "split the benchmark into several"
            got = f"{MAX_CASES + 1:,} or more"
            self.faults.append(Fault(place, "too many cases", f"at most {MAX_CASES:,} in a release", got, hint))
        if self.faults:
            raise InvalidCasesError(f"{place}: {len(self.faults):,} faults in {self.count:,} cases", faults=self.faults)

    def _explain(self, place: str, value: Json) -> None:
        if self._explainer is None:
            self._explainer = SchemaFaults(self._schema())
        where = case_place(place, value)
        before = len(self.faults)
        # What stands inside `evaluate` is explained by its kind.
        inside = f"{where} /evaluate/"
        evaluated = isinstance(value, Mapping) and isinstance(value.get("evaluate"), Mapping)
        for fault in self._explainer.of(value, where):
            if not (evaluated and fault.place.startswith(inside)):
                self.faults.append(fault)
        if is_too_deep(value):
            self.faults.append(Fault(where, "nested too deeply", "at most 64 levels"))
        if len(self.faults) == before and not evaluated:
            self.faults.append(Fault(where, "does not follow schemas/case.schema.json", got=shown(value)))

    def _note_evaluator(self, place: str, value: JsonObject, evaluate: JsonObject, faults: list[Fault]) -> None:
        where = case_place(place, value)
        if evaluate.get("kind") == CUSTOM:
            hint = "declare the custom evaluator in the eval; its cases give it their `data`"
            self.faults.append(
                Fault(f"{where} /evaluate/kind", "a custom evaluator in a case", "a built-in kind", hint=hint)
            )
            return
        self.faults += [
            Fault(f"{where} {fault.place}", fault.message, fault.expected, fault.got, fault.hint) for fault in faults
        ]

    def _check_tools(self, place: str, value: JsonObject) -> None:
        assert self._tools is not None
        names = value["tools"]
        for index, name in enumerate(names if isinstance(names, list | tuple) else ()):
            if isinstance(name, str) and name not in self._tools:
                known = ", ".join(f"`{tool}`" for tool in sorted(self._tools)) or "none, for the eval declares no tools"
                where = f"{case_place(place, value)} /tools/{index}"
                self.faults.append(Fault(where, "no such tool in the eval", known, shown(name)))

    def _note_duplicate(self, place: str, value: JsonObject, first: tuple[str, str]) -> None:
        first_id, first_place = first
        message = "duplicate id"
        if first_id != value["id"]:
            message = f"an id that differs from {first_id!a} only in letter case or Unicode form"
        self.faults.append(Fault(f"{case_place(place, value)} /id", f"{message}; the first stands at {first_place}"))


def case_place(place: str, value: Json) -> str:
    """Where a case stands, its id included if it has one."""
    case_id = value.get("id") if isinstance(value, Mapping) else None
    if not isinstance(case_id, str) or not case_id:
        return place
    return f"{place} case {case_id if len(case_id) <= MAX_ID else f'{case_id[:40]}...'}"


_PUBLIC = ("systemPrompt", "description", "tools", "limits", "sampling", "fixtures", "tags", "sandbox")


def public_line(case: JsonObject, definition: EvalDefinition) -> JsonObject:
    """What `cases.jsonl` says of a checked case: its own public values, not those of its eval."""
    line: dict[str, Json] = {"eval": definition.id, "id": case["id"], "prompt": case["prompt"]}
    for name in _PUBLIC:
        if name in case:
            line[name] = case[name]
    return line


def private_line(case: JsonObject, definition: EvalDefinition) -> JsonObject:
    """What `private.jsonl` says of a checked case: the evaluator that grades it, resolved, and its data."""
    line: dict[str, Json] = {"eval": definition.id, "id": case["id"], "evaluate": _evaluator(case, definition)}
    for name in ("data", "gold"):
        if name in case:
            line[name] = case[name]
    return line


def _evaluator(case: JsonObject, definition: EvalDefinition) -> JsonObject:
    own = case.get("evaluate")
    if isinstance(own, Mapping):
        return resolved_specification(own)
    if isinstance(definition.evaluate, BuiltInEvaluator):
        return definition.evaluate.specification
    custom = definition.evaluate
    return {"kind": CUSTOM, "evaluatorKey": f"{custom.module}#{custom.member}", "sourcePath": custom.module}


def case_lines(case: JsonObject, definition: EvalDefinition) -> CaseLines:
    """Both lines of a checked case, as they stand in a release before sealing."""
    private = private_line(case, definition)
    evaluate = private["evaluate"]
    assert isinstance(evaluate, Mapping)
    return CaseLines(
        id=str(case["id"]),
        public=canonical_bytes(public_line(case, definition)),
        private=canonical_bytes(private),
        kind=str(evaluate["kind"]),
    )
