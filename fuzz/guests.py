"""What confined programs answer: the author's code runs in one process with our runner, so it may say anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from typing import IO

from fuzz.errors import Reader
from trunchbuild.core.confinement import GuestEndedError, SandboxOutcome, SandboxProcess, SandboxRequest
from trunchbuild.core.ids import Digest
from trunchbuild.core.modules import Module, ModuleGraph
from trunchbuild.core.plan import Trial
from trunchbuild.core.results import Row, read_results
from trunchbuild.core.strict_json import read_json_lines
from trunchbuild.core.survey import Import, Survey
from trunchbuild.effects.runtime._explain import explain_cases, explain_loaded
from trunchbuild.effects.runtime._node import loaded_modules
from trunchbuild.effects.runtime._node_evaluate import _outcome, _Worker
from trunchbuild.effects.runtime._node_places import missing_export, with_places
from trunchbuild.effects.runtime._two_runs import Answer, GuestRun, Header, insist_on_equal, run_once, transformed
from trunchbuild.effects.runtime.api import EvaluatorFailure
from trunchbuild.errors import Fault, TrunchbuildError

APART = b"\n---\n"
"""Divides what the two runs answer; where it is missing, both say the same."""

GRAPH = ModuleGraph("t.mjs", "javascript", {"t.mjs": Module("t.mjs", "0" * 64, "javascript", "export default 1\n")}, {})
ENDED = SandboxOutcome("exited", 0, "last words\n", 0.1)


class SayingSandbox:
    """A `Sandbox` whose programs say what they are told to."""

    name = "none of a machine"

    def __init__(self, data: bytes) -> None:
        first, _, second = data.partition(APART)
        self._first, self._second = first, second or first

    def run(self, request: SandboxRequest, stdin: IO[bytes], on_output: Callable[[bytes], None]) -> SandboxOutcome:
        """See `Sandbox`."""
        stdin.read()
        answer = fitted(self._part(request))
        on_output(answer[:20])
        on_output(answer[20:])
        return ENDED

    @contextmanager
    def start(self, request: SandboxRequest) -> Iterator[SandboxProcess]:
        """See `Sandbox`."""
        yield SayingProcess(self._part(request))

    def _part(self, request: SandboxRequest) -> bytes:
        return self._first if request.hostname in {"sandbox", "first"} else self._second


class SayingProcess:
    """A `SandboxProcess` that says one line after the other, whatever it is asked."""

    def __init__(self, text: bytes) -> None:
        self._lines = text.split(b"\n")

    def exchange(self, line: bytes, *, timeout_seconds: float) -> bytes:
        """See `SandboxProcess`."""
        assert timeout_seconds > 0
        assert b"\n" not in line
        if not self._lines:
            raise GuestEndedError(ENDED)
        return self._lines.pop(0)

    def outcome(self) -> SandboxOutcome:
        """See `SandboxProcess`."""
        return ENDED


def fitted(answer: bytes) -> bytes:
    """The answer with its body's true size where the header says `"bytes": "fit"`: no mutator would guess it."""
    line, feed, body = answer.partition(b"\n")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return answer
    if not isinstance(header, dict) or header.get("bytes") != "fit":
        return answer
    text = json.dumps({**header, "bytes": len(body)}, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass") + (feed or b"\n") + body


def answers(data: bytes) -> tuple[Answer, Answer]:
    """What two runs gave, one after the other: `run_twice`, which has both at once, needs threads and more files."""
    sandbox = SayingSandbox(data)
    first, second = (run_once(sandbox, GuestRun(request, BytesIO())) for request in REQUESTS)
    return first, second


REQUESTS = [SandboxRequest(("/x",), {}, hostname=name) for name in ("first", "second")]
RUNS = (GuestRun(REQUESTS[0], BytesIO(), "t.mjs"), GuestRun(REQUESTS[1], BytesIO(), "t.mjs"))


def cases(data: bytes) -> None:
    """As many cases as the header says, each a line of the body; a failure gets the author's place."""
    first, second = answers(data)
    with first.body, second.body:
        try:
            insist_on_equal(first, second, RUNS, partial(explain_cases, "t.mjs"))
            output = transformed(first, "t.mjs")
        except TrunchbuildError as error:
            raise with_places(error, [GRAPH], lambda: second.header, _missing) from None
        assert output.count == sum(1 for line in output.jsonl if line.endswith(b"\n"))
        output.jsonl.seek(0)
        for _ in read_json_lines(output.jsonl, "t"):
            pass


def _missing(path: str, text: str, header: Header) -> Iterator[Fault]:
    survey = Survey(text, imports=(Import("./x", "1:1", (("y", "1:8"),), False),))
    return missing_export(path, survey, str(header.fields.get("message")))


def modules(data: bytes) -> None:
    """One value for each module."""
    first, second = answers(data)
    with first.body, second.body:
        insist_on_equal(first, second, RUNS, explain_loaded([GRAPH.entry]))
        (loaded,) = loaded_modules(first.body, 1)
    assert all(isinstance(pointer, str) for pointer in loaded.functions)


def verdicts(data: bytes) -> None:
    """One outcome for each call; a verdict's row can be written, and read back."""
    worker = _Worker(SayingSandbox(data), REQUESTS[0], GRAPH, member="default", seconds=1.0)  # type: ignore[arg-type]
    with worker:
        texts = worker.shared(["1", "2"]) + worker.fresh(["3"])
    assert len(texts) == 3
    for outcome in map(_outcome, texts):
        if isinstance(outcome, EvaluatorFailure):
            assert outcome.reason
        elif 0 <= outcome.score <= 1:
            digest, trial = Digest("0" * 64), Trial("e", "a", 0)
            row = Row(trial, "scored", outcome.passed, outcome.score, digest, outcome.message, outcome.details)
            ((_, again),) = read_results([row.line()], "results.jsonl")
            assert again == row


READERS = (
    Reader("guest-cases", cases, json=True),
    Reader("guest-modules", modules, json=True),
    Reader("guest-verdicts", verdicts, json=True),
)
