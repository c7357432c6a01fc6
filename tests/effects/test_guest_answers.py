"""The author's code runs in one process with the runner, so what that process answers may be anything at all."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from fuzz.guests import APART, GRAPH, SayingSandbox
from trunchbuild.core.confinement import Limits
from trunchbuild.core.modules import Module, ModuleGraph, ModuleRefusedError
from trunchbuild.effects.runtime._node import NodeRuntime
from trunchbuild.effects.runtime._node_evaluate import evaluate
from trunchbuild.effects.runtime._python import transform_python
from trunchbuild.effects.runtime.api import (
    EvaluatorCall,
    EvaluatorFailure,
    EvaluatorVerdict,
    GuestError,
    TransformDiffersError,
    Transformed,
)

PYTHON = ModuleGraph("t.py", "python", {"t.py": Module("t.py", "0" * 64, "python", "x = 1\n")}, {})


def by_node(answer: bytes) -> Transformed:
    return NodeRuntime(SayingSandbox(answer), None).transform(GRAPH, {})


def by_python(answer: bytes) -> Transformed:
    return transform_python(SayingSandbox(answer), PYTHON, {})


both = pytest.mark.parametrize("transform", [by_node, by_python])


def ok(body: bytes, **fields: object) -> bytes:
    header = {"status": "ok", "name": "t", "count": body.count(b"\n"), "bytes": len(body), **fields}
    return json.dumps(header).encode() + b"\n" + body


@both
def test_a_true_answer_is_taken(transform: Callable[[bytes], Transformed]) -> None:
    output = transform(ok(b'{"id":"a"}\n{"id":"b"}\n'))
    with output.jsonl as body:
        assert body.read() == b'{"id":"a"}\n{"id":"b"}\n'
    assert (output.name, output.count) == ("t", 2)


@both
@pytest.mark.parametrize(
    "fields",
    [{"count": 3}, {"count": 1}, {"count": True}, {"count": "2"}, {"count": None}, {"name": 1}, {"name": None}],
)
def test_a_header_that_does_not_tell_of_its_cases_is_refused(
    transform: Callable[[bytes], Transformed], fields: dict[str, object]
) -> None:
    """A receipt would repeat the number."""
    with pytest.raises(GuestError, match="another form"):
        transform(ok(b'{"id":"a"}\n{"id":"b"}\n', **fields))


@both
@pytest.mark.parametrize(
    ("one", "two"),
    [
        (b"x\n", b"y\n"),
        (b"", b"y\n"),
        (b"\xff\n", b"\n"),
        (b"[" * 100_000 + b"\n", b"1\n"),
        (b'{"a":' * 900 + b"1" + b"}" * 900 + b"\n", b'{"a":' * 900 + b"2" + b"}" * 900 + b"\n"),
        (b"[1]\n", b"NaN\n"),
    ],
)
def test_bodies_that_are_no_json_differ_like_others(
    transform: Callable[[bytes], Transformed], one: bytes, two: bytes
) -> None:
    with pytest.raises(TransformDiffersError) as raised:
        transform(ok(one, count=1) + APART + ok(two, count=1))
    assert raised.value.faults[0].message


@both
def test_a_place_beyond_all_numbers_stays_a_text(transform: Callable[[bytes], Transformed]) -> None:
    """Python reads no number of more than 4300 digits."""
    entry = "t.mjs" if transform is by_node else "t.py"
    place = f"{entry}:{'9' * 5000}:1"
    with pytest.raises(ModuleRefusedError) as raised:
        transform(json.dumps({"status": "refused", "message": "no", "place": place}).encode() + b"\n")
    assert raised.value.faults[0].place == place


def loaded(*values: object) -> bytes:
    body = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    return ok(body, name=None, count=None)


def test_a_loaded_module() -> None:
    answer = loaded({"value": {"id": "e", "evaluate": None}, "functions": ["/evaluate"]})
    (module,) = NodeRuntime(SayingSandbox(answer), None).load([GRAPH])
    assert (module.value, module.functions) == ({"id": "e", "evaluate": None}, {"/evaluate"})


@pytest.mark.parametrize("values", [(), (1,), ({"value": 1},), ({"value": 1, "functions": []},) * 2])
def test_what_is_no_loaded_module(values: tuple[object, ...]) -> None:
    with pytest.raises(GuestError, match="another form"):
        NodeRuntime(SayingSandbox(loaded(*values)), None).load([GRAPH])


@pytest.mark.parametrize(("one", "two"), [((1,), (2,)), ((1, 2), (3,)), ((), ({"value": 1},)), ((1,), (1, 1))])
def test_loads_that_differ(one: tuple[object, ...], two: tuple[object, ...]) -> None:
    with pytest.raises(TransformDiffersError):
        NodeRuntime(SayingSandbox(loaded(*one) + APART + loaded(*two)), None).load([GRAPH])


RIGHT = '{"passed":true,"score":0.5,"message":"m","details":[1]}'


def graded(*lines: str) -> object:
    sandbox = SayingSandbox("\n".join(lines).encode("utf-8", "surrogatepass"))
    (outcome,) = evaluate(sandbox, Limits(), GRAPH, "default", [EvaluatorCall("a", "1", None)])
    return outcome


def test_a_true_verdict() -> None:
    one = f'{{"results":[{RIGHT}]}}'
    assert graded('{"status":"ok"}', one, one) == EvaluatorVerdict(True, 0.5, "m", [1])


@pytest.mark.parametrize(
    "answer",
    [
        "x",
        "[]",
        '{"results":3}',
        '{"results":[]}',
        f'{{"results":[{RIGHT},{RIGHT}]}}',
        '{"results":[1]}',
        '{"results":[{"failure":3}]}',
        '{"results":[{"passed":1,"score":1,"message":null,"details":null}]}',
        '{"results":[{"passed":true,"score":true,"message":null,"details":null}]}',
        '{"results":[{"passed":true,"score":"1","message":null,"details":null}]}',
        '{"results":[{"passed":true,"score":1,"message":3,"details":null}]}',
        '{"results":[{"passed":true,"score":1,"message":"\\ud800","details":null}]}',
        '{"results":[{"passed":true,"score":1,"message":null,"details":"\\ud800"}]}',
        '{"results":[{"passed":true,"score":1,"message":null,"details":NaN}]}',
        '{"results":[{"passed":true,"score":1,"message":null,"details":1e999}]}',
        '{"results":[{"passed":true,"score":1,"message":null,"details":1000000000000000000000000000001}]}',
        '{"results":[' + "[" * 5000 + "]" * 5000 + "]}",
    ],
)
def test_what_is_no_verdict_is_a_failure_of_the_evaluator(answer: str) -> None:
    """Never a score, never a row that could not be written or read again."""
    outcome = graded('{"status":"ok"}', *[answer] * 4)
    assert isinstance(outcome, EvaluatorFailure)
    assert "another form" in outcome.reason


@pytest.mark.parametrize("header", ["", "[]", "x", '{"status":1}', "{}"])
def test_a_greeting_that_is_none(header: str) -> None:
    with pytest.raises(GuestError, match="another form"):
        graded(header)


def test_a_greeting_that_refuses() -> None:
    told = {"status": "refused", "message": "no", "faults": [{"message": "m", "place": "t.mjs:1:1"}, 3, {}]}
    with pytest.raises(ModuleRefusedError, match="no") as raised:
        graded(json.dumps(told))
    assert (raised.value.faults[0].place, raised.value.faults[0].message) == ("t.mjs:1:1", "m")
