"""What a run is: canonical form, run id, requests and trials. Digests come from the standard library."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.case_settings import Limits, Sampling
from trunchbuild.core.ids import CaseId, Digest
from trunchbuild.core.plan import Trial, chosen, read_case_list, remaining, strangers, trials
from trunchbuild.core.public_case import EffectiveCase
from trunchbuild.core.requests import ThinkingNotSwitchableError, request_body
from trunchbuild.core.run_spec import RequestSettings, RunSpec, choose_evals, differences, read_run_spec
from trunchbuild.core.strict_json import read_json
from trunchbuild.errors import BadInputError

RELEASE = Digest("ab" * 32)
SPEC = RunSpec(release=RELEASE, evals=("sums",), model="m", label="host")


def case(case_id: str = "a", **changes: Any) -> EffectiveCase:
    whole = EffectiveCase(CaseId("sums", case_id), "1 + 1?", None, Limits(), Sampling(), {})
    return replace(whole, **changes)


def test_the_run_id_is_the_sha256_of_sorted_compact_json() -> None:
    """With ASCII and small integers RFC 8785 is what json.dumps with sorted keys writes."""
    expected = {
        "evals": ["sums"],
        "harness": 1,
        "label": "host",
        "model": "m",
        "release": "sha256:" + "ab" * 32,
        "repeat": 1,
        "replies": "endpoint",
        "request": {
            "api": "chat",
            "limit_field": "max_tokens",
            "max_output_tokens": 32768,
            "stream": False,
            "temperature": 0,
            "thinking_switch": "reasoning_effort",
        },
        "type": "trunchbuild.run/v1",
    }
    text = json.dumps(expected, sort_keys=True, separators=(",", ":")).encode()
    assert SPEC.canonical_bytes() == text
    assert SPEC.run_id.hex == hashlib.sha256(text).hexdigest()


@pytest.mark.parametrize(
    "other",
    [
        replace(SPEC, release=Digest("cd" * 32)),
        replace(SPEC, evals=("sums", "words")),
        replace(SPEC, model="n"),
        replace(SPEC, label="gateway"),
        replace(SPEC, repeat=2),
        replace(SPEC, limit=3),
        replace(SPEC, cases=(CaseId("sums", "a"),)),
        replace(SPEC, model_sha256="ef" * 32),
        replace(SPEC, request=None),
        replace(SPEC, request=RequestSettings(temperature=0.5)),
        replace(SPEC, request=RequestSettings(temperature=None)),
        replace(SPEC, request=RequestSettings(top_p=0.5)),
        replace(SPEC, request=RequestSettings(seed=1)),
        replace(SPEC, request=RequestSettings(max_output_tokens=1)),
        replace(SPEC, request=RequestSettings(limit_field="max_completion_tokens")),
        replace(SPEC, request=RequestSettings(thinking="low")),
        replace(SPEC, request=RequestSettings(thinking_switch="none")),
    ],
)
def test_everything_that_shapes_a_run_changes_its_id(other: RunSpec) -> None:
    """R73: no setting is left out of the run's name; the difference is named."""
    assert other.run_id != SPEC.run_id
    assert differences(SPEC, other)
    assert differences(SPEC, SPEC) == []


def test_differences_name_member_old_and_new() -> None:
    other = replace(SPEC, model="n", request=RequestSettings(temperature=0.7))
    assert differences(SPEC, other) == ['model: "m" -> "n"', "request.temperature: 0 -> 0.7"]


NUMBERS = st.one_of(st.none(), st.floats(0, 2, allow_nan=False).map(lambda x: x + 0.0))


@given(
    st.builds(
        RunSpec,
        release=st.just(RELEASE),
        evals=st.lists(st.text(min_size=1), min_size=1, max_size=3).map(tuple),
        model=st.text(),
        label=st.text(),
        repeat=st.integers(1, 9),
        limit=st.none() | st.integers(1, 9),
        cases=st.none() | st.lists(st.builds(CaseId, st.text(), st.text()), max_size=3).map(tuple),
        model_sha256=st.none() | st.just("ef" * 32),
        request=st.none()
        | st.builds(
            RequestSettings,
            temperature=NUMBERS,
            top_p=NUMBERS,
            seed=st.none() | st.integers(0, 2**53 - 1),
            max_output_tokens=st.integers(1, 2**53 - 1),
            thinking=st.sampled_from([None, "off", "on", "high"]),
        ),
    )
)
def test_spec_round_trip(spec: RunSpec) -> None:
    """What is written is read back as the same run."""
    again = read_run_spec(read_json(spec.canonical_bytes(), "x"), "x")
    assert again == spec
    assert again.run_id == spec.run_id


@pytest.mark.parametrize(
    "change",
    [
        {"type": "trunchbuild.run/v2"},
        {"harness": 2},
        {"extra": 1},
        {"repeat": 0},
        {"repeat": None},
        {"release": "ab" * 32},
        {"replies": "made up"},
        {"request": {}},
        {"request": {**SPEC.json()["request"], "stream": True}},  # type: ignore[dict-item]
        {"request": {**SPEC.json()["request"], "api": "responses"}},  # type: ignore[dict-item]
        {"request": {**SPEC.json()["request"], "logprobs": 1}},  # type: ignore[dict-item]
    ],
)
def test_other_specs_are_refused(change: dict[str, Any]) -> None:
    """R81: another format, or a member that this build does not know, is never half-read."""
    with pytest.raises(BadInputError):
        read_run_spec({**SPEC.json(), **change}, "run.json")


def body(**changes: Any) -> dict[str, Any]:
    settings = changes.pop("settings", RequestSettings())
    repeat = changes.pop("repeat", 0)
    return json.loads(request_body(case(**changes), replace(SPEC, request=settings), repeat))


def test_a_plain_body_byte_for_byte() -> None:
    """The bytes as any RFC 8785 writer makes them."""
    expected = (
        b'{"max_tokens":32768,"messages":[{"content":"Sum.","role":"system"},'
        b'{"content":"1 + 1? \xe2\x82\xac","role":"user"}],"model":"m","temperature":0}'
    )
    assert request_body(case(prompt="1 + 1? €", system_prompt="Sum."), SPEC, 0) == expected


def test_numbers_are_written_as_ecmascript_does() -> None:
    settings = RequestSettings(temperature=1e-7, top_p=1.0)
    raw = request_body(case(), replace(SPEC, request=settings), 0)
    assert b'"temperature":1e-7' in raw
    assert b'"top_p":1}' in raw


def test_what_the_release_states_goes_first() -> None:
    """Case, then eval (merged before), then flags."""
    settings = RequestSettings(temperature=0.9, top_p=0.8, seed=5, max_output_tokens=100, thinking="high")
    stated = Sampling(temperature=0.1, top_p=0.2, seed=40, stop=("END",), think=False)
    made = body(settings=settings, sampling=stated, limits=Limits(max_output_tokens=16), repeat=2)
    assert made["temperature"] == 0.1
    assert made["top_p"] == 0.2
    assert made["seed"] == 42
    assert made["stop"] == ["END"]
    assert made["max_tokens"] == 16
    assert made["reasoning_effort"] == "none"


def test_flags_fill_what_the_release_leaves_open() -> None:
    settings = RequestSettings(temperature=0.9, seed=5, max_output_tokens=100, thinking="high")
    made = body(settings=settings, repeat=1)
    assert (made["temperature"], made["seed"], made["max_tokens"]) == (0.9, 6, 100)
    assert made["reasoning_effort"] == "high"


def test_nothing_is_sent_that_nobody_set() -> None:
    """R63: the body holds what is stated and no more."""
    made = body(settings=RequestSettings(temperature=None, limit_field="max_completion_tokens"))
    assert set(made) == {"model", "messages", "max_completion_tokens"}


@pytest.mark.parametrize(
    ("switch", "level", "members"),
    [
        ("reasoning_effort", "off", {"reasoning_effort": "none"}),
        ("reasoning_effort", "on", {"reasoning_effort": "medium"}),
        ("reasoning_effort", "low", {"reasoning_effort": "low"}),
        ("enable_thinking", "off", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("enable_thinking", "on", {"chat_template_kwargs": {"enable_thinking": True}}),
    ],
)
def test_thinking_is_switched_as_the_provider_says(switch: Any, level: Any, members: dict[str, Any]) -> None:
    made = body(settings=RequestSettings(thinking=level, thinking_switch=switch))
    assert {name: made[name] for name in members} == members


@pytest.mark.parametrize(("switch", "level"), [("enable_thinking", "high"), ("none", "on"), ("none", "off")])
def test_a_switch_that_is_not_there_is_an_error(switch: Any, level: Any) -> None:
    """Nothing is left out in silence; the case is named."""
    with pytest.raises(ThinkingNotSwitchableError, match="sums/a"):
        body(settings=RequestSettings(thinking=level, thinking_switch=switch))


def test_a_transcript_follows_the_prompt() -> None:
    turn = {"role": "assistant", "content": "2"}
    made = json.loads(request_body(case(), SPEC, 0, [turn]))
    assert made["messages"] == [{"role": "user", "content": "1 + 1?"}, turn]


CASES = [CaseId("sums", "a"), CaseId("sums", "b"), CaseId("words", "a"), CaseId("words", "x/y"), CaseId("sums", "c")]


def test_trials_keep_the_releases_order_and_repeats_together() -> None:
    spec = replace(SPEC, evals=("sums", "words"), repeat=2)
    found = list(trials(CASES[:3], spec))
    assert found == [Trial(case.eval, case.id, repeat) for case in CASES[:3] for repeat in (0, 1)]


def test_subsets() -> None:
    """A limit counts per eval; a list keeps the release's order."""
    both = replace(SPEC, evals=("sums", "words"))
    assert list(chosen(CASES, replace(both, limit=1))) == [CASES[0], CASES[2]]
    assert list(chosen(CASES, replace(SPEC, limit=2))) == CASES[:2]
    assert list(chosen(CASES, replace(both, cases=(CASES[4], CASES[0])))) == [CASES[0], CASES[4]]
    assert list(chosen(CASES, replace(both, limit=9))) == CASES


def test_only_what_has_no_reply_remains() -> None:
    """A failed call has no reply; a step that was not the last is no end."""
    a, b, c, d = (Trial("sums", name, 0) for name in "abcd")
    recorded = {a: "answered", b: "failed", c: "incomplete"}
    assert remaining([a, b, c, d], recorded) == [b, c, d]  # type: ignore[arg-type]
    assert remaining([a, b], recorded, again=frozenset({a})) == [a, b]  # type: ignore[arg-type]
    assert strangers([a], recorded) == [b, c]


def test_lists_of_cases() -> None:
    """EVAL/ID or a bare id that is unique among the chosen evals; BOM, CRLF and blank lines do no harm."""
    text = "\ufeffwords/x/y\r\n\r\nb\nsums/a\nb\n"
    assert read_case_list(text, CASES, ("sums", "words"), "l") == (CASES[0], CASES[1], CASES[3])
    assert read_case_list("x/y", CASES, ("words",), "l") == (CASES[3],)


@pytest.mark.parametrize(
    ("text", "place"),
    [("nope", "l:1"), ("sums/a\na", "l:2"), ("words/b", "l:1"), ("\n\n", "l"), ("", "l")],
)
def test_lists_that_name_no_single_case(text: str, place: str) -> None:
    """Unknown, ambiguous, empty: an error by line."""
    with pytest.raises(BadInputError) as caught:
        read_case_list(text, CASES, ("sums", "words"), "l")
    assert caught.value.faults[0].place == place


def test_choosing_evals() -> None:
    assert choose_evals(["a", "b", "c"], []) == ("a", "b", "c")
    assert choose_evals(["a", "b", "c"], ["c", "a", "a"]) == ("a", "c")
    with pytest.raises(BadInputError, match="`d`"):
        choose_evals(["a"], ["d"])
