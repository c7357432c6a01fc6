"""Custom evaluators, run for real: confined, twice, no state from call to call."""

from __future__ import annotations

import json

import pytest

from tests.support.modules import LIMITS, graph_of, real_runtime, real_sandbox
from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import ModuleRefusedError
from trunchbuild.effects.runtime._modules import ModuleRuntime
from trunchbuild.effects.runtime._node_evaluate import evaluate
from trunchbuild.effects.runtime.api import (
    EvaluatorCall,
    EvaluatorFailure,
    EvaluatorOutcome,
    EvaluatorVerdict,
    GuestError,
)
from trunchbuild.errors import BadInputError, TrunchbuildError

PASS = "{ passed: true, score: 1, message: null }"


@pytest.fixture(scope="module")
def runtime() -> ModuleRuntime:
    return real_runtime()


def call(output: str, data: Json = None, case_id: str = "c") -> EvaluatorCall:
    return EvaluatorCall(case_id, output, data)


def graded(
    runtime: ModuleRuntime, text: str, outputs: list[str], member: str = "default", data: Json = None
) -> list[EvaluatorOutcome]:
    calls = [call(output, data, f"case-{at}") for at, output in enumerate(outputs)]
    return list(runtime.evaluate(graph_of(runtime, text), member, calls))


def reason(outcome: EvaluatorOutcome) -> str:
    assert isinstance(outcome, EvaluatorFailure)
    return outcome.reason


def test_fractional_scores_and_details(runtime: ModuleRuntime) -> None:
    text = """
export default {
  evaluate({ output, caseData, toolCalls, caseId }: Record<string, any>) {
    const hits = caseData.words.filter((word: string) => output.includes(word))
    const score = hits.length / caseData.words.length
    const details = { hits, caseId, calls: toolCalls.length }
    return { passed: score > 0.5, score, message: hits.length ? null : "nothing", details }
  },
}
"""
    words = {"words": ["red", "green", "blue"]}
    assert graded(runtime, text, ["red green", "blue", "x"], data=words) == [
        EvaluatorVerdict(True, 2 / 3, None, {"hits": ["red", "green"], "caseId": "case-0", "calls": 0}),
        EvaluatorVerdict(False, 1 / 3, None, {"hits": ["blue"], "caseId": "case-1", "calls": 0}),
        EvaluatorVerdict(False, 0.0, "nothing", {"hits": [], "caseId": "case-2", "calls": 0}),
    ]


@pytest.mark.parametrize(
    ("text", "member"),
    [
        (f"export default () => ({PASS})", "default"),
        (f"export default {{ evaluate: () => ({PASS}) }}", "default"),
        (f"export default {{ id: 'x', evaluate: () => ({PASS}) }}", "default.evaluate"),
        (f"export const named = () => ({PASS})", "named"),
        (f"export const named = {{ inner: {PASS}, evaluate() {{ return this.inner }} }}", "named"),
        (f"export default {{ deep: {{ evaluate: async () => ({PASS}) }} }}", "default.deep"),
        (f"export default () => new Promise((done) => setTimeout(() => done({PASS})))", "default"),
        (f"export default () => ({{ then: (done) => done({PASS}) }})", "default"),
    ],
)
def test_members_and_promises(runtime: ModuleRuntime, text: str, member: str) -> None:
    assert graded(runtime, text, ["x"], member) == [EvaluatorVerdict(True, 1.0, None, None)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("throw new Error('boom')", "threw Error: boom"),
        ("throw null", "threw null"),
        ("return Promise.reject(new TypeError('late'))", "threw TypeError: late"),
        ("return new Promise(() => {})", "never settles"),
        ("return new Promise((done) => setTimeout(() => { throw new Error('in a timer') }))", "in a timer"),
        ("return true", "must be an object"),
        ("return null", "must be an object"),
        ("return [true]", "must be an object"),
        ("return { passed: true }", "`score`"),
        ("return { passed: 1, score: 1, message: null }", "`passed`"),
        ("return { passed: true, score: 0 / 0, message: null }", "/score is NaN"),
        ("return { passed: true, score: Infinity, message: null }", "/score is Infinity"),
        ("return { passed: true, score: 1.01, message: null }", "`score` must be a number from 0 to 1, got 1.01"),
        ("return { passed: true, score: -0.1, message: null }", "got -0.1"),
        ("return { passed: true, score: '1', message: null }", "`score`"),
        ("return { passed: true, score: 1 }", "`message`"),
        ("return { passed: true, score: 1, message: 'a\\ud800' }", "lone surrogate"),
        ("return { passed: true, score: 1, message: null, details: new Date(0) }", "/details is a Date"),
        ("return Object.create({ passed: true, score: 1, message: null })", "an instance of a class"),
        ("return new Proxy({ passed: true, score: 1, message: null }, {})", "a Proxy"),
        (f"const m = Math; try {{ m.random() }} catch {{}} return {PASS}", "Math.random() is not available"),
    ],
)
def test_failures_are_never_scores(runtime: ModuleRuntime, body: str, expected: str) -> None:
    """R21 among them: a score that is not finite. The case after it is graded as if nothing had been."""
    text = f"export default ({{ output }}) => {{ if (output === 'good') return {PASS}; {body} }}"
    outcomes = graded(runtime, text, ["good", "bad", "good"])
    assert expected in reason(outcomes[1])
    assert outcomes[0] == outcomes[2] == EvaluatorVerdict(True, 1.0, None, None)


def test_minus_zero_is_zero(runtime: ModuleRuntime) -> None:
    (verdict,) = graded(runtime, "export default () => ({ passed: false, score: -0, message: '' })", ["x"])
    assert isinstance(verdict, EvaluatorVerdict)
    assert str(verdict.score) == "0.0"


@pytest.mark.parametrize("count", [1, 2, 5, 32, 33, 101])
def test_a_counter_does_not_pass_from_case_to_case(runtime: ModuleRuntime, count: int) -> None:
    """Every case is the first that its evaluator sees. With an odd count both orders would agree on the parity."""
    text = "let calls = 0\nexport default () => ({ passed: ++calls % 2 === 1, score: 1 / calls, message: null })"
    assert graded(runtime, text, ["x"] * count) == [EvaluatorVerdict(True, 1.0, None, None)] * count


def test_state_that_shows_late_does_not_pass(runtime: ModuleRuntime) -> None:
    """Only the middle of the batch sees the state, from both sides: the passes agree there, and are wrong."""
    text = """
const seen = new Set()
export default ({ output }) => {
  const spoiled = output === "probe" && seen.has("poison")
  seen.add(output)
  return { passed: !spoiled, score: 1, message: null }
}
"""
    outputs = ["x"] * 40 + ["poison"] + ["probe"] + ["poison"] + ["x"] * 40
    assert graded(runtime, text, outputs) == [EvaluatorVerdict(True, 1.0, None, None)] * len(outputs)


def test_json_of_a_model_cannot_pollute_other_cases(runtime: ModuleRuntime) -> None:
    """A careless merge of a model's JSON fills Object.prototype; the cases around it must not see that."""
    text = """
const merge = (to, from) => { for (const key in from) {
  if (typeof from[key] === "object") merge(to[key] ??= {}, from[key]); else to[key] = from[key] } return to }
export default ({ output }) => {
  const options = merge({}, JSON.parse(output))
  return { passed: {}.passed === true, score: options.passed ? 1 : 0, message: null }
}
"""
    poison = '{"__proto__": {"passed": true}}'
    clean = EvaluatorVerdict(False, 0.0, None, None)
    outcomes = graded(runtime, text, [poison, "{}", poison, "{}", "{}", poison])
    assert [outcomes[1], outcomes[3], outcomes[4]] == [clean] * 3
    assert outcomes[0] == EvaluatorVerdict(True, 1.0, None, None), "what it does to its own case is its own affair"


@pytest.mark.parametrize(
    "spoil",
    [
        "String.prototype.includes = () => true",
        "JSON.parse = () => ({})",
        "globalThis.seen = true",
        "Object.defineProperty(Object.prototype, 'passed', { value: true, enumerable: false })",
        "RegExp.prototype.test = () => true",
    ],
)
def test_patched_intrinsics_do_not_pass(runtime: ModuleRuntime, spoil: str) -> None:
    text = f"""
export default ({{ output }}) => {{
  const good = output.includes("right") || JSON.parse("1") !== 1 || globalThis.seen || {{}}.passed || /q/.test("x")
  if (output === "spoil") {{ {spoil} }}
  return {{ passed: Boolean(good), score: 0, message: null }}
}}
"""
    outcomes = graded(runtime, text, ["wrong", "spoil", "wrong", "spoil", "wrong"])
    assert [outcome.passed for outcome in outcomes if isinstance(outcome, EvaluatorVerdict)] == [False] * 5


def test_what_depends_on_the_stack_is_a_failure(runtime: ModuleRuntime) -> None:
    text = "export default () => { let n = 0; const f = () => { n++; f() }; try { f() } catch {}"
    text += " return { passed: true, score: 1, message: String(n) } }"
    assert "different verdicts" in reason(graded(runtime, text, ["x"])[0])


def test_a_case_that_never_ends_is_a_failure_and_the_others_are_graded() -> None:
    """The deadline is one call's, though calls travel in batches."""
    runtime = real_runtime()
    text = f"export default ({{ output }}) => {{ while (output === 'loop'); return {PASS} }}"
    graph = graph_of(runtime, text)
    calls = [call(output) for output in ["x", "loop", "x", "x"]]
    outcomes = list(evaluate(real_sandbox(), LIMITS, graph, "default", calls, call_seconds=1.0))
    assert "longer than 1 s" in reason(outcomes[1])
    assert [outcomes[at] for at in (0, 2, 3)] == [EvaluatorVerdict(True, 1.0, None, None)] * 3


def test_no_realm_is_used_for_long(runtime: ModuleRuntime) -> None:
    """More fresh realms than one process may make: 430 calls that each change an intrinsic."""
    text = "export default () => { const n = (Array.n ?? 0) + 1; Array.n = n;"
    text += " return { passed: n === 1, score: 1, message: null } }"
    assert graded(runtime, text, ["x"] * 430) == [EvaluatorVerdict(True, 1.0, None, None)] * 430


def test_outcomes_come_while_calls_still_arrive(runtime: ModuleRuntime) -> None:
    """A window is graded as soon as it is full: memory does not grow with the number of calls."""
    taken = 0

    def calls() -> object:
        nonlocal taken
        for _ in range(4_200):
            taken += 1
            yield call("x")

    outcomes = runtime.evaluate(graph_of(runtime, f"export default () => ({PASS})"), "default", calls())  # type: ignore[arg-type]
    assert next(outcomes) == EvaluatorVerdict(True, 1.0, None, None)
    assert taken < 4_200
    assert sum(1 for _ in outcomes) == 4_199


def test_no_calls_no_outcomes(runtime: ModuleRuntime) -> None:
    assert graded(runtime, f"export default () => ({PASS})", []) == []


@pytest.mark.parametrize(
    ("text", "member", "kind", "message"),
    [
        ("export default 1", "default", GuestError, "must be a function"),
        ("export default {}", "missing", GuestError, "must be a function"),
        ("\nthrow new Error('at load')", "default", GuestError, "t.ts:2:7: Error: at load"),
        (
            "const m = Math; m.random(); export default () => 1",
            "default",
            ModuleRefusedError,
            "t.ts:1:19: Math.random()",
        ),
        ("for (;;);", "default", GuestError, "CPU time"),
    ],
)
def test_modules_that_cannot_grade(text: str, member: str, kind: type[TrunchbuildError], message: str) -> None:
    limits = LIMITS if "for" not in text else type(LIMITS)(cpu_seconds=1)
    runtime = real_runtime(limits=limits)
    with pytest.raises(kind) as caught:
        graded(runtime, text, ["x"], member)
    assert message in " ".join(map(str, caught.value.faults))


def test_python_modules_do_not_grade(runtime: ModuleRuntime) -> None:
    graph = graph_of(runtime, "name = 't'\n\ndef transform(sources):\n    return []\n", "t.py")
    with pytest.raises(BadInputError, match="only transformers may be written in Python"):
        runtime.evaluate(graph, "default", [])
    with pytest.raises(BadInputError, match="only transformers may be written in Python"):
        runtime.load([graph])


def test_odd_texts_arrive_unchanged(runtime: ModuleRuntime) -> None:
    outputs = ["\u2028\u2029\n\r\0", "é😀", '"\\', "x" * 100_000, ""]
    text = "export default ({ output }) => ({ passed: true, score: 1, message: output })"
    outcomes = graded(runtime, text, outputs)
    assert [json.loads(json.dumps(one.message)) for one in outcomes if isinstance(one, EvaluatorVerdict)] == outputs
