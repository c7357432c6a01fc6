"""Cases: what the contract allows passes, every fault is named with case id and place, fast check and schema agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.benchmark import ToolDeclaration
from trunchbuild.core.case_shape import follows_case_schema, is_too_deep
from trunchbuild.core.cases import (
    MAX_CASES,
    CaseChecker,
    InvalidCasesError,
    case_lines,
    private_line,
    public_line,
)
from trunchbuild.core.eval_module import BuiltInEvaluator, EvalDefinition, Evaluator, InlineCases
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import CustomEvaluator
from trunchbuild.core.schema_faults import SchemaFaults
from trunchbuild.core.strict_json import read_jsonl
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import Fault

SCHEMA = PackageSchemas().read("case")
EXPLAINER = SchemaFaults(SCHEMA)


def definition(evaluate: Evaluator | None = None) -> EvalDefinition:
    return EvalDefinition(
        path="evals/one.ts",
        id="one",
        title="One",
        cases=InlineCases(()),
        evaluate=evaluate or BuiltInEvaluator({"kind": "non_empty@1"}),
        system_prompt="The eval's own.",
        tools={"look": ToolDeclaration(module="tools/look.ts")},
    )


def check_cases(
    values: Iterable[tuple[str, Json]], of: EvalDefinition | None, *, place: str = "x", already: int = 0
) -> tuple[JsonObject, ...]:
    """All cases of one eval at once, as a flow lets them stream by."""
    checker = CaseChecker(of, lambda: SCHEMA, already=already)
    cases: list[JsonObject] = []
    for where, value in values:
        case = checker.check(where, value)
        if case is not None:
            cases.append(case)
        if checker.is_full():
            break
    checker.finish(place)
    return tuple(cases)


def placed(values: list[Json]) -> Iterator[tuple[str, Json]]:
    return ((f"data.jsonl:{row}", value) for row, value in enumerate(values, 1))


def faults_of(*values: Json, of: EvalDefinition | None = None, already: int = 0) -> list[Fault]:
    with pytest.raises(InvalidCasesError) as caught:
        check_cases(placed(list(values)), of or definition(), place="data.jsonl", already=already)
    return list(caught.value.faults)


FULL: JsonObject = {
    "id": "a",
    "prompt": "p",
    "systemPrompt": "",
    "description": "",
    "tools": ["look"],
    "limits": {"maxSteps": 1, "maxToolCalls": 0, "maxOutputTokens": 2**53 - 1},
    "tags": {"level": 1, "hard": True, "share": 0.5, "language": "en", "constraints": ["a", ""]},
    "sampling": {"temperature": 0, "topP": 1, "seed": 0, "stop": ["\n"], "think": False},
    "fixtures": [{"name": "look", "result": 1}],
    "sandbox": {"required": True, "image": "x"},
    "data": None,
    "evaluate": {"kind": "exact", "expected": "4"},
    "gold": "4",
}


def test_a_case_with_everything() -> None:
    [case] = check_cases(placed([FULL]), definition())
    assert case == FULL
    assert EXPLAINER.is_valid(FULL)
    assert public_line(case, definition()) == {
        "eval": "one",
        **{key: value for key, value in FULL.items() if key not in ("data", "evaluate", "gold")},
    }
    assert private_line(case, definition()) == {
        "eval": "one",
        "id": "a",
        "evaluate": {"kind": "exact@1", "expected": "4"},
        "data": None,
        "gold": "4",
    }


def test_lines_hold_the_cases_own_values_and_a_resolved_evaluator() -> None:
    """The eval's system prompt stands in the manifest; its evaluator is written into every private line."""
    case: JsonObject = {"prompt": "2 + 2 = ?", "id": "a"}
    lines = case_lines(case, definition())
    assert lines.public == b'{"eval":"one","id":"a","prompt":"2 + 2 = ?"}'
    assert lines.private == b'{"eval":"one","evaluate":{"kind":"non_empty@1"},"id":"a"}'
    assert lines.kind == "non_empty@1"
    custom = definition(CustomEvaluator("evals/x.ts", "default.evaluate"))
    assert json.loads(case_lines({**case, "data": {"b": 1, "a": 2}}, custom).private) == {
        "eval": "one",
        "id": "a",
        "evaluate": {"kind": "custom", "evaluatorKey": "evals/x.ts#default.evaluate", "sourcePath": "evals/x.ts"},
        "data": {"a": 2, "b": 1},
    }


def test_a_misspelt_key_names_the_nearest_known_one() -> None:
    """R25: a case whose grader is misspelt must never pass silently."""
    [fault] = faults_of({"id": "x", "prompt": "p", "evalaute": {"type": "exact", "answer": "y"}})
    assert fault.place == "data.jsonl:1 case x /evalaute"
    assert fault.hint == "did you mean `evaluate`?"
    [fault] = faults_of({"id": "x", "prompt": "p", "system_prompt": "s"})
    assert fault.hint == "did you mean `systemPrompt`?"
    [fault] = faults_of({"id": "x", "prompt": "p", "zzz": 1})
    assert fault.hint is None


def test_equal_ids_name_both_rows() -> None:
    """R22, and the ids that some file system or reader would take for equal: letter case and Unicode form."""
    [fault] = faults_of({"id": "q1", "prompt": "a"}, {"id": "q2", "prompt": "b"}, {"id": "q1", "prompt": "c"})
    assert fault.place == "data.jsonl:3 case q1 /id"
    assert "data.jsonl:1" in fault.message
    for first, second in (("Q1", "q1"), ("caf\u00e9", "cafe\u0301"), ("STRASSE", "stra\u00dfe"), ("\u212a", "K")):
        [fault] = faults_of({"id": first, "prompt": "a"}, {"id": second, "prompt": "b"})
        assert "only in letter case or Unicode form; the first stands at data.jsonl:1" in fault.message
    # The twins: other digits, other letters, other accents.
    different: list[Json] = [
        {"id": name, "prompt": "p"} for name in ("q1", "q01", "cafe", "caf\u00e9", "caf\u00e8", "ss.")
    ]
    assert len(check_cases(placed(different), definition())) == 6


def test_big_integers_as_ids_in_a_file() -> None:
    """R18: an id that is an integer is no string; 2^53 + 1 does not even become a value."""
    [fault] = faults_of({"id": 9007199254740992.0, "prompt": "p"})
    assert fault.place == "data.jsonl:1 /id"
    with pytest.raises(Exception, match="becomes 9007199254740992"):
        list(read_jsonl(b'{"id":9007199254740993}', "x"))


def test_all_faults_are_listed() -> None:
    faults = faults_of(
        {"id": " a", "prompt": ""},
        "text",
        {"prompt": "p", "limits": {"maxSteps": 0, "maxStep": 1}, "evaluate": {"kind": "exacct"}},
        {"id": "b", "prompt": "p", "tools": ["look", "lok"], "evaluate": {"kind": "exact"}},
        {"id": "c", "prompt": "p", "evaluate": {"kind": "custom", "evaluatorKey": "x#y", "sourcePath": "x"}},
        {"id": "d", "prompt": "p"},
    )
    assert [fault.place for fault in faults] == [
        "data.jsonl:1 case  a /id",
        "data.jsonl:1 case  a /prompt",
        "data.jsonl:2",
        "data.jsonl:3 /id",
        "data.jsonl:3 /limits/maxStep",
        "data.jsonl:3 /limits/maxSteps",
        "data.jsonl:3 /evaluate/kind",
        "data.jsonl:4 case b /evaluate/expected",
        "data.jsonl:4 case b /tools/1",
        "data.jsonl:5 case c /evaluate/kind",
    ]
    assert faults[0].expected == "a string without white space at its beginning"
    assert faults[2].got == "'text'"


@pytest.mark.parametrize(
    ("key", "value", "pointer"),
    [
        ("id", "", "/id"),
        ("id", "x" * 201, "/id"),
        ("id", "a\nb", "/id"),
        ("id", "a\x85b", "/id"),
        ("id", "\u2003a", "/id"),
        ("id", "a\ufeff", "/id"),
        ("prompt", None, "/prompt"),
        ("systemPrompt", None, "/systemPrompt"),
        ("tools", ["look", "look"], "/tools"),
        ("tools", "look", "/tools"),
        ("limits", {"maxOutputTokens": 1.5}, "/limits/maxOutputTokens"),
        ("limits", {"maxToolCalls": True}, "/limits/maxToolCalls"),
        ("tags", {"a/b": None}, "/tags/a~1b"),
        ("tags", {"a": [1]}, "/tags/a"),
        ("tags", {"a": {"b": 1}}, "/tags/a"),
        ("sampling", {"temperature": -1}, "/sampling/temperature"),
        ("sampling", {"stop": []}, "/sampling/stop"),
        ("sampling", {"top_p": 1}, "/sampling/top_p"),
        ("fixtures", None, "/fixtures"),
        ("sandbox", {}, "/sandbox/required"),
        ("sandbox", {"required": 1}, "/sandbox/required"),
        ("gold", 4, "/gold"),
        ("evaluate", None, "/evaluate"),
        ("evaluate", {}, "/evaluate/kind"),
    ],
)
def test_one_wrong_member(key: str, value: Json, pointer: str) -> None:
    [fault] = faults_of({"id": "a", "prompt": "p"} | {key: value})
    assert fault.place.endswith(f" {pointer}")


def test_a_long_id_does_not_flood_the_message() -> None:
    [fault] = faults_of({"id": "x" * 1_000_000, "prompt": "p"})
    assert len(str(fault)) < 300


def test_ids_at_the_border() -> None:
    ids = ["x" * 200, "\U0001f600" * 200, "a b", "a\u2028b", "é", "0", "a\u200bb"]
    values: list[Json] = [{"id": name, "prompt": "p"} for name in ids]
    assert len(check_cases(placed(values), definition())) == len(ids)


def nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize("key", ["data", "fixtures"])
def test_depth(key: str) -> None:
    """64 levels, the case itself the first."""
    case: dict[str, Json] = {"id": "a", "prompt": "p", key: nested(63)}
    assert check_cases(placed([case]), definition())
    for depth in (64, 100_000):
        [fault] = faults_of({**case, key: (deep := nested(depth))})
        assert fault.message == "nested too deeply"
        while isinstance(deep, list) and deep:
            deep = deep.pop()


def test_the_number_of_cases() -> None:
    """25,000 are a release, 25,001 and none are errors; other evals of the release count."""
    values = [{"id": str(number), "prompt": "p"} for number in range(MAX_CASES + 1)]
    full = check_cases(placed(values[:-1]), definition())  # type: ignore[arg-type]
    assert len(full) == 25_000
    [fault] = faults_of(*values)
    assert (fault.message, fault.expected) == ("too many cases", "at most 25,000 in a release")
    [fault] = faults_of(*values[:11], already=24_990)
    assert fault.message == "too many cases"
    [fault] = faults_of()
    assert fault.message == "no cases"


def test_an_endless_source_is_not_read_to_its_end() -> None:
    def endless() -> Iterator[tuple[str, Json]]:
        number = 0
        while True:
            number += 1
            yield f"x:{number}", {"id": str(number), "prompt": "p"}

    with pytest.raises(InvalidCasesError, match="too many"):
        check_cases(endless(), None)


def test_a_transformer_tried_alone_leaves_tools_to_the_eval() -> None:
    case: JsonObject = {"id": "a", "prompt": "p", "tools": ["unknown"]}
    assert check_cases(placed([case]), None) == (case,)


def test_good_cases_never_ask_for_the_schema() -> None:
    def never() -> JsonObject:
        raise AssertionError

    checker = CaseChecker(definition(), never)
    assert checker.check("x:1", dict(FULL)) == FULL
    checker.finish("x")


TEXTS = st.sampled_from(
    ["", "a", " a", "a ", "a b", "x" * 200, "x" * 201, "\x7f", "\x85", "\u2028", "\ufeff", "é", "\u200b"]
)
NUMBERS = st.sampled_from([0, 1, -1, 0.0, 1.0, -1.0, 0.5, 1.5, 2**53 - 1, 2**53, 1e300, 2.0**53 - 1, True, False])
SCALARS = st.none() | TEXTS | NUMBERS
NESTED = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2), max_leaves=5
)


def members(names: list[str], values: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Objects of mostly right names."""
    return st.dictionaries(st.sampled_from([*names, "other"]), values, max_size=3)


LIMITS = members(["maxSteps", "maxToolCalls", "maxOutputTokens"], SCALARS)
SAMPLING = members(["temperature", "topP", "seed", "stop", "think"], SCALARS | st.lists(TEXTS, max_size=2))
VALUES: dict[str, st.SearchStrategy[Json]] = {
    "id": TEXTS | st.text(max_size=4) | SCALARS,
    "prompt": TEXTS | SCALARS,
    "systemPrompt": SCALARS,
    "description": SCALARS,
    "tools": st.lists(st.sampled_from(["a", "b", "", 1]), max_size=3) | NESTED,
    "limits": LIMITS | NESTED,
    "tags": st.dictionaries(TEXTS, SCALARS | st.lists(SCALARS, max_size=2) | NESTED, max_size=2) | NESTED,
    "sampling": SAMPLING | NESTED,
    "fixtures": NESTED,
    "sandbox": members(["required"], SCALARS) | NESTED,
    "data": NESTED,
    "evaluate": members(["kind"], SCALARS) | NESTED,
    "gold": SCALARS,
    "evalaute": NESTED,
}


@st.composite
def near_cases(draw: Callable[[st.SearchStrategy[Json]], Json]) -> Json:
    """A right case with a few members exchanged, removed or added."""
    case = dict(FULL)
    for name in draw(st.lists(st.sampled_from([*VALUES]), max_size=3)):  # type: ignore[union-attr]
        if draw(st.booleans()):
            case[str(name)] = draw(VALUES[str(name)])
        else:
            case.pop(str(name), None)
    return case


@given(near_cases() | NESTED)
def test_fast_check_and_schema_agree(value: Json) -> None:
    assert not is_too_deep(value)
    assert follows_case_schema(value) == EXPLAINER.is_valid(value)


@given(near_cases())
def test_what_is_refused_is_explained(value: Json) -> None:
    assert bool(list(EXPLAINER.of(value, "x"))) != follows_case_schema(value)
