"""Two runs side by side, with a sandbox that says what the test wants."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

import pytest

from trunchbuild.core.confinement import (
    Ending,
    Limits,
    SandboxOutcome,
    SandboxProcess,
    SandboxRequest,
    SandboxUnavailableError,
)
from trunchbuild.core.modules import ModuleRefusedError
from trunchbuild.effects.runtime._two_runs import Answer, GuestRun, HeldBack, guest_input, run_twice
from trunchbuild.effects.runtime.api import GuestError, GuestLimitError, TransformDiffersError
from trunchbuild.errors import Fault

OK = {"status": "ok", "name": "t", "count": 1}


class ScriptedSandbox:
    """Answers by host name; both runs must be under way before either answers."""

    name = "scripted"

    def __init__(self, **answers: tuple[Ending, int, bytes] | Exception) -> None:
        self.answers = answers
        self.together = threading.Barrier(2, timeout=10)
        self.given: dict[str, bytes] = {}

    def run(self, request: SandboxRequest, stdin: IO[bytes], on_output: Callable[[bytes], None]) -> SandboxOutcome:
        self.given[request.hostname] = stdin.read()
        self.together.wait()
        answer = self.answers[request.hostname]
        if isinstance(answer, Exception):
            raise answer
        ending, code, output = answer
        for at in range(0, len(output), 7):
            on_output(output[at : at + 7])
        return SandboxOutcome(ending, code, "last words\n", 0.1)

    def start(self, request: SandboxRequest) -> AbstractContextManager[SandboxProcess]:
        raise NotImplementedError


def said(fields: dict[str, object], body: bytes = b"") -> tuple[Ending, int, bytes]:
    return "exited", 0, json.dumps({**fields, "bytes": len(body)}).encode() + b"\n" + body


def explain(first: IO[bytes], second: IO[bytes], hints: Sequence[str]) -> list[Fault]:
    return [Fault("", f"{first.read()!r} {second.read()!r} {list(hints)!r}")]


def twice(sandbox: ScriptedSandbox, held_back: HeldBack | None = None) -> Answer:
    requests = [SandboxRequest(("/x",), {Path("/x"): "/x"}, hostname=name, limits=Limits()) for name in ("one", "two")]
    with guest_input(b"a", b"b") as first, guest_input(b"c") as second:
        return run_twice(sandbox, (GuestRun(requests[0], first), GuestRun(requests[1], second)), explain, held_back)


def test_equal_answers_are_one_answer() -> None:
    sandbox = ScriptedSandbox(one=said({**OK, "hints": ["x"]}, b"body\n"), two=said({**OK, "hints": ["y"]}, b"body\n"))
    answer = twice(sandbox)
    with answer.body as body:
        assert body.read() == b"body\n"
    assert answer.sha256 == hashlib.sha256(b"body\n").hexdigest()
    assert sandbox.given == {"one": b"ab", "two": b"c"}


def test_what_a_look_at_the_first_body_says_waits_for_the_second() -> None:
    def look(body: IO[bytes]) -> None:
        raise GuestError(f"seen {body.read()!r}")

    one, two = said(OK, b"1"), said(OK, b"2")
    held_back = HeldBack(look)
    answer = twice(ScriptedSandbox(one=one, two=one), held_back)
    assert answer.body.read() == b"1"
    with pytest.raises(GuestError, match="seen b'1'"):
        held_back.tell(answer)
    assert answer.body.closed
    with pytest.raises(TransformDiffersError):
        twice(ScriptedSandbox(one=one, two=two), HeldBack(look))
    failed = said({"status": "threw", "message": "E: 1"})
    with pytest.raises(GuestError, match="E: 1"):
        twice(ScriptedSandbox(one=failed, two=failed), HeldBack(look))


def test_different_bodies() -> None:
    one, two = said({**OK, "hints": ["h1"]}, b"1"), said({**OK, "hints": ["h1", "h2"]}, b"2")
    with pytest.raises(TransformDiffersError, match=r"b'1' b'2' \['h1', 'h2'\]"):
        twice(ScriptedSandbox(one=one, two=two))


def test_different_headers() -> None:
    with pytest.raises(TransformDiffersError, match=r"name: .*expected 't', got 'u'"):
        twice(ScriptedSandbox(one=said(OK), two=said({**OK, "name": "u"})))


def test_failures_alike_are_the_first_ones() -> None:
    one = said({"status": "threw", "message": "E: 1", "place": "t.py:1:1"})
    two = said({"status": "threw", "message": "E: 2", "place": "t.py:1:1"})
    with pytest.raises(GuestError, match=r"t\.py:1:1: E: 1"):
        twice(ScriptedSandbox(one=one, two=two))


def test_only_the_second_fails() -> None:
    """An exception in one run alone is a difference; a limit or a refusal is what it is."""
    with pytest.raises(TransformDiffersError, match="second run: E"):
        twice(ScriptedSandbox(one=said(OK), two=said({"status": "threw", "message": "E"})))
    with pytest.raises(GuestLimitError, match="60 s"):
        twice(ScriptedSandbox(one=said(OK), two=("timed-out", 9, b"")))
    with pytest.raises(ModuleRefusedError, match="no os"):
        twice(ScriptedSandbox(one=said(OK), two=said({"status": "refused", "message": "no os"})))


@pytest.mark.parametrize(
    "answer",
    [
        ("exited", 0, b""),
        ("exited", 0, b"no json\n"),
        ("exited", 0, b'{"status": "ok"}'),
        ("exited", 0, b'{"status": "ok", "bytes": 5}\nfour'),
        ("exited", 0, b'{"status": 3}\n'),
        ("exited", 0, b"[]\n"),
        ("exited", 1, b'{"status": "ok"}\n'),
        ("signalled", 11, b'{"status": "ok"}\n'),
        ("exited", 0, b"x" * 3_000_000),
    ],
)
def test_answers_that_are_none(answer: tuple[Ending, int, bytes]) -> None:
    """Cut off, forged, or from a runner that crashed: never a result."""
    with pytest.raises(GuestError, match="without an answer"):
        twice(ScriptedSandbox(one=answer, two=answer))


@pytest.mark.parametrize(
    ("ending", "words"),
    [("timed-out", "60 s"), ("cpu-limit", "CPU time"), ("out-of-memory", "4096 MiB"), ("too-much-output", "512 MiB")],
)
def test_limits_are_named(ending: Ending, words: str) -> None:
    answer: tuple[Ending, int, bytes] = (ending, 9, said(OK)[2])
    with pytest.raises(GuestLimitError, match=words):
        twice(ScriptedSandbox(one=answer, two=answer))


def test_every_fault_of_a_failure_is_listed() -> None:
    faults = [{"place": "a", "message": "m", "hint": "h"}, {"place": "b", "message": "n"}]
    answer = said({"status": "invalid", "message": "two things", "faults": faults})
    with pytest.raises(GuestError) as caught:
        twice(ScriptedSandbox(one=answer, two=answer))
    assert caught.value.faults == (Fault("a", "m", hint="h"), Fault("b", "n"))


def test_a_sandbox_that_cannot_start_in_either_run() -> None:
    failure = SandboxUnavailableError("no way")
    for answers in ({"one": failure, "two": said(OK, b"x")}, {"one": said(OK, b"x"), "two": failure}):
        with pytest.raises(SandboxUnavailableError):
            twice(ScriptedSandbox(**answers))
