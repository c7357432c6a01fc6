"""The config and the eval modules: what the contract lists is read, everything else is a fault with its place."""

from __future__ import annotations

import pytest

from trunchbuild.core.benchmark import BenchmarkConfig, InvalidBenchmarkError, ToolDeclaration, parse_config
from trunchbuild.core.case_settings import Limits
from trunchbuild.core.eval_module import (
    BuiltInEvaluator,
    CaseFile,
    EvalDefinition,
    InlineCases,
    TransformerCases,
    check_distinct,
    parse_eval,
)
from trunchbuild.core.json_types import Json
from trunchbuild.core.loaded import BenchmarkFacts, CustomEvaluator
from trunchbuild.errors import Fault

PATH = "benchmarks/x/benchmark.config.ts"
EVAL = "benchmarks/x/evals/one.ts"
NONE: frozenset[str] = frozenset()


def config_value(**changes: Json) -> dict[str, Json]:
    return {"protocolVersion": 1, "title": "Sums", "version": "1.0.0", "evals": ["evals/one.ts"], **changes}


def eval_value(**changes: Json) -> dict[str, Json]:
    return {"id": "one", "title": "One", "cases": [], "evaluate": {"kind": "non_empty"}, **changes}


def config(**changes: Json) -> BenchmarkConfig:
    return parse_config(config_value(**changes), PATH)


def definition(functions: frozenset[str] = NONE, **changes: Json) -> EvalDefinition:
    return parse_eval(eval_value(**changes), functions, EVAL, config())


def config_faults(value: Json, functions: frozenset[str] = NONE) -> tuple[Fault, ...]:
    with pytest.raises(InvalidBenchmarkError) as caught:
        parse_config(value, PATH, functions)
    return caught.value.faults


def eval_faults(functions: frozenset[str] = NONE, **changes: Json) -> tuple[Fault, ...]:
    with pytest.raises(InvalidBenchmarkError) as caught:
        definition(functions, **changes)
    return caught.value.faults


def test_the_whole_config() -> None:
    read = config(
        description="d",
        license="MIT",
        homepage="https://example.org",
        tags=["a", "b"],
        defaults={
            "limits": {"maxSteps": 3, "maxToolCalls": 0, "maxOutputTokens": 100},
            "systemPrompt": "Be brief.",
            "tools": {"look_up": "tools/look.ts"},
        },
        evals=["evals/one.ts", "../shared/two.mjs"],
    )
    assert read == BenchmarkConfig(
        path=PATH,
        protocol_version=1,
        facts=BenchmarkFacts("Sums", "1.0.0", "d", "MIT", "https://example.org", ("a", "b")),
        evals=("benchmarks/x/evals/one.ts", "benchmarks/shared/two.mjs"),
        limits=Limits(3, 0, 100),
        system_prompt="Be brief.",
        tools={"look_up": ToolDeclaration(module="benchmarks/x/tools/look.ts")},
    )


@pytest.mark.parametrize("version", [2, 0, "1", None, True, 1.5])
def test_another_protocol_version_says_what_is_read(version: Json) -> None:
    [fault] = config_faults(config_value(protocolVersion=version, wrong=1))
    assert fault.place.endswith("/protocolVersion")
    assert fault.hint == "this build reads protocolVersion 1"


def test_all_faults_of_a_config_at_once() -> None:
    faults = config_faults(
        {
            "protocolVersion": 1,
            "titel": "Sums",
            "version": "1 beta",
            "license": "",
            "tags": ["a", 1],
            "defaults": {"limits": {"maxSteps": 0, "maxToolCalls": -1, "maxTokens": 5}, "systemPrompt": None},
            "evals": ["/etc/x.ts", "../../../x.ts", "evals\\x.ts", "https://example.org/x.ts", "a.ts", "./a.ts", ""],
        }
    )
    places = {fault.place.removeprefix(f"{PATH} ") for fault in faults}
    limits = {"/defaults/limits/maxSteps", "/defaults/limits/maxToolCalls", "/defaults/limits/maxTokens"}
    evals = {"/evals/0", "/evals/1", "/evals/2", "/evals/3", "/evals/5", "/evals/6"}
    facts = {"/titel", "/title", "/version", "/license", "/tags/1", "/defaults/systemPrompt"}
    assert places == limits | evals | facts
    assert [fault.hint for fault in faults if fault.place.endswith("/titel")] == ["did you mean `title`?"]


@pytest.mark.parametrize("evals", [[], "evals/one.ts", None, {"a": 1}])
def test_a_config_needs_evals(evals: Json) -> None:
    assert [fault.place for fault in config_faults(config_value(evals=evals))] == [f"{PATH} /evals"]


def test_a_config_is_an_object_of_data() -> None:
    assert config_faults([])[0].got == "an array"
    [fault] = config_faults(config_value(description=None), frozenset({"/description"}))[:1]
    assert (fault.place, fault.message) == (f"{PATH} /description", "a function")


def test_a_default_export_that_is_a_function() -> None:
    assert config_faults(None, frozenset({""}))[0].got == "a function"
    with pytest.raises(InvalidBenchmarkError, match="got a function"):
        parse_eval(None, frozenset({""}), EVAL, config())


def test_the_three_forms_of_cases() -> None:
    assert definition(cases=[{"id": "a"}, 1]).cases == InlineCases(({"id": "a"}, 1))
    assert definition(cases="../data/a.jsonl").cases == CaseFile("benchmarks/x/data/a.jsonl")
    assert definition(cases="./a.json").cases == CaseFile("benchmarks/x/evals/a.json")
    form: Json = {"transformer": "../../t/index.ts", "sources": {"b": "../b.csv", "a": "a.jsonl"}}
    assert definition(cases=form).cases == TransformerCases(
        "benchmarks/t/index.ts", {"b": "benchmarks/x/b.csv", "a": "benchmarks/x/evals/a.jsonl"}
    )


@pytest.mark.parametrize(
    ("cases", "pointer"),
    [
        ("a.csv", "/cases"),
        ("../../../../a.jsonl", "/cases"),
        (None, "/cases"),
        (3, "/cases"),
        ({"transformer": "t.ts"}, "/cases/sources"),
        ({"transformer": "t.ts", "sources": {}}, "/cases/sources"),
        ({"transformer": "t.ts", "sources": {str(n): "a" for n in range(17)}}, "/cases/sources"),
        ({"transformer": "t.ts", "sources": {"a": 1}}, "/cases/sources/a"),
        ({"transformer": "t.ts", "sources": {"a/b": "../../../../x"}}, "/cases/sources/a~1b"),
        ({"transfomer": "t.ts", "transformer": "t.ts", "sources": {"a": "a"}}, "/cases/transfomer"),
        ({"sources": {"a": "a"}}, "/cases/transformer"),
    ],
)
def test_wrong_forms_of_cases(cases: Json, pointer: str) -> None:
    assert [fault.place for fault in eval_faults(cases=cases)] == [f"{EVAL} {pointer}"]


def test_sixteen_sources_are_allowed() -> None:
    form: Json = {"transformer": "t.ts", "sources": {str(n): "a" for n in range(16)}}
    origin = definition(cases=form).cases
    assert isinstance(origin, TransformerCases)
    assert len(origin.sources) == 16


def test_evaluators() -> None:
    assert definition().evaluate == BuiltInEvaluator({"kind": "non_empty@1"})
    assert definition(evaluate={"expected": "4", "kind": "exact"}).evaluate == BuiltInEvaluator(
        {"expected": "4", "kind": "exact@1"}
    )
    assert definition(frozenset({"/evaluate"}), evaluate=None).evaluate == CustomEvaluator(EVAL, "default.evaluate")
    custom = {"kind": "custom", "evaluatorKey": "evaluators/x.ts#strict", "sourcePath": "./evaluators/x.ts"}
    assert definition(evaluate=custom).evaluate == CustomEvaluator("benchmarks/x/evaluators/x.ts", "strict")


@pytest.mark.parametrize(
    ("evaluate", "pointer"),
    [
        (None, "/evaluate"),
        ("exact", "/evaluate"),
        ({"kind": "exacct"}, "/evaluate/kind"),
        ({"kind": "exact"}, "/evaluate/expected"),
        ({"kind": "custom", "sourcePath": "x.ts"}, "/evaluate/evaluatorKey"),
        ({"kind": "custom", "evaluatorKey": "x.ts#default"}, "/evaluate/sourcePath"),
        ({"kind": "custom", "evaluatorKey": "x.ts", "sourcePath": "x.ts"}, "/evaluate/evaluatorKey"),
        ({"kind": "custom", "evaluatorKey": "x.ts#a b", "sourcePath": "x.ts"}, "/evaluate/evaluatorKey"),
        ({"kind": "custom", "evaluatorKey": "y.ts#default", "sourcePath": "x.ts"}, "/evaluate/evaluatorKey"),
        ({"kind": "custom", "evaluatorKey": "x.ts#default", "sourcePath": "x.ts", "key": 1}, "/evaluate/key"),
        ({"kind": "custom", "evaluatorKey": "../../x.ts#a", "sourcePath": "../../../x.ts"}, "/evaluate/sourcePath"),
    ],
)
def test_wrong_evaluators(evaluate: Json, pointer: str) -> None:
    assert [fault.place for fault in eval_faults(evaluate=evaluate)] == [f"{EVAL} {pointer}"]


def test_functions_elsewhere_are_refused() -> None:
    faults = eval_faults(frozenset({"/evaluate", "/cases/0/evaluate", "/tools/t/execute"}), evaluate=None)
    assert [fault.place for fault in faults] == [f"{EVAL} /cases/0/evaluate", f"{EVAL} /tools/t/execute"]
    assert faults[1].hint is not None


def test_defaults_fill_what_an_eval_leaves_open() -> None:
    defaults: Json = {
        "limits": {"maxSteps": 3, "maxOutputTokens": 100},
        "systemPrompt": "Default.",
        "tools": {"a": "tools/a.ts", "b": "tools/b.ts"},
    }
    inline: Json = {"b": {"description": "B", "inputSchema": {"type": "object"}}}
    own = parse_eval(
        eval_value(limits={"maxOutputTokens": 50}, systemPrompt="", tools=inline), NONE, EVAL, config(defaults=defaults)
    )
    assert own.limits == Limits(3, None, 50)
    assert own.system_prompt == ""
    assert own.tools == {
        "a": ToolDeclaration(module="benchmarks/x/tools/a.ts"),
        "b": ToolDeclaration(description="B", input_schema={"type": "object"}),
    }
    assert parse_eval(eval_value(), NONE, EVAL, config(defaults=defaults)).system_prompt == "Default."


@pytest.mark.parametrize("eval_id", ["One", "", "-a", ".a", "a/b", "a b", "a" * 129, "é", None])
def test_eval_ids(eval_id: Json) -> None:
    assert [fault.place for fault in eval_faults(id=eval_id)] == [f"{EVAL} /id"]
    assert definition(id="0a._-" + "a" * 123).id == "0a._-" + "a" * 123


def test_eval_ids_are_distinct() -> None:
    one, two = definition(), definition(id="two")
    check_distinct([one, two])
    with pytest.raises(InvalidBenchmarkError) as caught:
        check_distinct([one, two, one])
    assert caught.value.faults[0].hint == f"first in {EVAL}"


def test_misspelt_keys_of_an_eval() -> None:
    [fault] = eval_faults(evalaute={"kind": "exact"})
    assert (fault.message, fault.hint) == ("unknown key `evalaute`", "did you mean `evaluate`?")
    assert [fault.hint for fault in eval_faults(system_prompt="x")] == ["did you mean `systemPrompt`?"]


@pytest.mark.parametrize(
    "tools", [[], {"a b": "x.ts"}, {"a": 1}, {"a": {"description": "x"}}, {"a": {"description": 1, "inputSchema": {}}}]
)
def test_wrong_tools(tools: Json) -> None:
    assert len(eval_faults(tools=tools)) == 1
