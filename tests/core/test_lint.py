"""Lint warnings, each with a twin that must stay silent."""

from __future__ import annotations

from datetime import date

import pytest

from trunchbuild.core.benchmark import BenchmarkConfig
from trunchbuild.core.eval_module import BuiltInEvaluator, EvalDefinition, InlineCases
from trunchbuild.core.json_types import Json
from trunchbuild.core.lint import CaseLint, lint_config
from trunchbuild.core.loaded import BenchmarkFacts, CustomEvaluator

DAY = date(2026, 3, 7)


def warnings(*cases: dict[str, Json], system: str | None = None, evaluate: Json = None) -> list[str]:
    evaluator = BuiltInEvaluator(evaluate) if isinstance(evaluate, dict) else CustomEvaluator("e.ts", "default")
    lint = CaseLint(EvalDefinition("e.ts", "e", "E", InlineCases(()), evaluator, system_prompt=system), DAY)
    for row, case in enumerate(cases, 1):
        lint.look(f"d.jsonl:{row}", {"id": f"c{row}", **case})
    return [str(warning) for warning in lint.warnings()]


def exact(expected: Json) -> Json:
    return {"kind": "exact", "expected": expected}


@pytest.mark.parametrize(
    ("prompt", "evaluate"),
    [
        ("Is it Paris?", exact("Paris")),
        ("Is it Paris?", exact(["Rome", "Paris"])),
        ("7 days", {"kind": "gsm8k", "expected": "7"}),
        ("It was 7.", exact(" 7 ")),
        ("Say FINAL ANSWER: B now", {"kind": "answer_bank", "answers": ["FINAL ANSWER: B"]}),
        ("A word: sun", {"kind": "contains", "substrings": ["sun"]}),
        ("It is 2.5", {"kind": "numeric_answer", "expected": 2.5}),
    ],
)
def test_an_answer_in_the_prompt(prompt: str, evaluate: Json) -> None:
    [warning] = warnings({"prompt": prompt, "evaluate": evaluate})
    assert warning.startswith("e.ts: an expected answer stands in the prompt (1 case): got d.jsonl:1 case c1")


@pytest.mark.parametrize(
    ("prompt", "evaluate"),
    [
        ("Is it Parisian?", exact("Paris")),
        ("17 days, 7.5 hours, 1,7 and 7,000", exact("7")),
        ("Anything", exact("")),
        ("Say B", {"kind": "answer_bank", "answers": ["FINAL ANSWER: A"], "forbiddenAnswers": ["B"]}),
        ("Never say sun", {"kind": "not_contains", "substrings": ["sun"]}),
        ("The code is 4711. What is it?", {"kind": "context_recall@1", "expected": "4711"}),
        ("Is it Paris?", {"kind": "non_empty"}),
    ],
)
def test_no_answer_in_the_prompt(prompt: str, evaluate: Json) -> None:
    assert warnings({"prompt": prompt, "evaluate": evaluate}) == []


def test_gold_system_prompts_and_evaluators_of_the_eval_count() -> None:
    assert len(warnings({"prompt": "p", "gold": "Rome"}, system="Rome it is")) == 1
    assert len(warnings({"prompt": "p", "systemPrompt": "Rome"}, system="x", evaluate=exact("Rome"))) == 1
    # The case's own system prompt replaces the eval's, its own evaluator wins.
    assert warnings({"prompt": "p", "systemPrompt": ""}, system="Rome", evaluate=exact("Rome")) == []
    assert warnings({"prompt": "Rome?", "evaluate": exact("Oslo")}, evaluate=exact("Rome")) == []


def test_equal_prompts() -> None:
    [warning] = warnings({"prompt": "a"}, {"prompt": "b"}, {"prompt": "a"})
    assert warning == "e.ts: equal prompts (1 case): got d.jsonl:3 case c3 (as d.jsonl:1 case c1)"
    assert warnings({"prompt": "a"}, {"prompt": "a "}, {"prompt": "a", "systemPrompt": "s"}, {"prompt": "sa"}) == []


def test_many_cases_make_one_warning() -> None:
    [warning] = warnings(*[{"prompt": "a"}] * 20)
    assert "(19 cases)" in warning
    assert warning.endswith(" and 14 more")


@pytest.mark.parametrize(
    "written",
    ["2026-03-07", "7.3.2026", "03/07/2026", "7/3/2026", "March 7, 2026", "mar 7 2026", "7 March 2026",
     "the 7th of March 2026", "2026/3/7", "2026-03-07T10:00:00Z"],
)  # fmt: skip
def test_todays_date(written: str) -> None:
    [warning] = warnings({"prompt": f"Today is {written}."})
    assert "today's date" in warning
    assert len(warnings({"prompt": "p"}, system=f"Now: {written}")) == 1


@pytest.mark.parametrize("written", ["2026", "2026-03-08", "2025-03-07", "17.3.2026", "March 17, 2026", "7.3.20261"])
def test_other_dates(written: str) -> None:
    assert warnings({"prompt": f"It was {written}."}) == []


def test_a_missing_licence() -> None:
    config = BenchmarkConfig("benchmark.config.ts", 1, BenchmarkFacts("T", "1"), ("e.ts",))
    [warning] = lint_config(config)
    assert warning.place == "benchmark.config.ts"
    assert lint_config(BenchmarkConfig("c.ts", 1, BenchmarkFacts("T", "1", license="MIT"), ("e.ts",))) == []
