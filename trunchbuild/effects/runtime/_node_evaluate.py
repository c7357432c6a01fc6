"""Custom evaluators: every call graded twice, no state from call to call.

Fast path: the calls of a batch get new instances of all modules (0.3 ms) in one realm whose intrinsics are frozen, so
that there is nothing in which state could be kept; a second process does the same in reverse order. A call that fails
there, or on which the two disagree, is graded twice more, in realms of its own that nothing else has used (2 ms, in two
processes): what still differs is a failure of the evaluator. A sample from both ends of a batch is graded that way too,
and where it disagrees with the fast path everything is. A batch that does not answer in time is taken apart, since the
limit of time is one call's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice

from trunchbuild.core.confinement import GuestEndedError, Limits, Sandbox, SandboxProcess, SandboxRequest
from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.strict_json import JsonError, read_json
from trunchbuild.effects.runtime._node_layout import Variation, node_request
from trunchbuild.effects.runtime._node_places import author_place, with_stack
from trunchbuild.effects.runtime._node_requests import graph_json, line
from trunchbuild.effects.runtime._two_runs import ANOTHER_FORM, Header, failure_told_by, read_header
from trunchbuild.effects.runtime.api import (
    EvaluatorCall,
    EvaluatorFailure,
    EvaluatorOutcome,
    EvaluatorVerdict,
    GuestError,
)
from trunchbuild.errors import TrunchbuildError

CALL_SECONDS = 10.0
"""Wall time of one call."""
_START_SECONDS = 30.0
_WINDOW = 4096
"""Calls that are graded together; also how many outcomes are held."""
_PIECE_CALLS, _PIECE_CHARACTERS = 256, 4 << 20
"""What one line to the guest holds."""
_SAMPLE = 16
"""Calls at each end of a window that are always graded in fresh realms too."""
_FRESH_PIECE = 16
_RECYCLE = 400
"""Node 24 never frees a module: a realm with one costs about 160 KB. A process gets this many realms."""
_MODULES_PER_REALM = 0.4
"""What new instances of the modules in an old realm cost, in realms."""

_DIFFERS = "gave different verdicts for the same input"


def evaluate(
    sandbox: Sandbox,
    limits: Limits,
    graph: ModuleGraph,
    member: str,
    calls: Iterable[EvaluatorCall],
    *,
    call_seconds: float = CALL_SECONDS,
) -> Iterator[EvaluatorOutcome]:
    """Grade in order; see `Runtime.evaluate`.

    Raises:
        GuestError, ModuleRefusedError: The module cannot be loaded, or `member` is no function.
    """
    remaining = iter(calls)
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        workers = [
            stack.enter_context(
                _Worker(sandbox, node_request(limits, variation), graph, member=member, seconds=call_seconds)
            )
            for variation in _BOTH
        ]
        slow = False
        while window := list(islice(remaining, _WINDOW)):
            inputs = [_input(call) for call in window]
            graded, slow = _grade(workers, pool, inputs, slow)
            yield from graded


def _grade(
    workers: Sequence[_Worker], pool: ThreadPoolExecutor, inputs: Sequence[str], slow: bool
) -> tuple[list[EvaluatorOutcome], bool]:
    """Outcomes of a window, and whether the fast path is not to be trusted with this evaluator."""
    first, second = workers
    fast: list[str | None] = [None] * len(inputs)
    if not slow:
        back = pool.submit(second.shared, inputs[::-1])
        forth = first.shared(inputs)
        backward = back.result()[::-1]
        fast = [one if one == two and not _failed(one) else None for one, two in zip(forth, backward, strict=True)]
        ends = sorted({*range(min(_SAMPLE, len(inputs))), *range(max(0, len(inputs) - _SAMPLE), len(inputs))})
        ends = [at for at in ends if fast[at] is not None]
        sample = first.fresh([inputs[at] for at in ends])
        slow = any(fast[at] != verdict for at, verdict in zip(ends, sample, strict=True))
    again = [at for at, verdict in enumerate(fast) if slow or verdict is None]
    chosen = [inputs[at] for at in again]
    other = pool.submit(second.fresh, chosen)
    outcomes = {at: _agreed(one, two) for at, one, two in zip(again, first.fresh(chosen), other.result(), strict=True)}
    return [outcomes[at] if at in outcomes else _outcome(verdict or "") for at, verdict in enumerate(fast)], slow


def _failed(verdict: str) -> bool:
    return verdict.startswith('{"failure"')


_BOTH: tuple[Variation, Variation] = (0, 1)


class _Worker:
    """A guest that grades, started again whenever it had to be killed or has made enough realms."""

    def __init__(
        self, sandbox: Sandbox, request: SandboxRequest, graph: ModuleGraph, *, member: str, seconds: float
    ) -> None:
        self._sandbox = sandbox
        self._request = request
        self._graph = graph
        # The realm that is made on greeting only shows that the module loads: it may look at its stack.
        self._hello = line(with_stack({"graph": graph_json(graph), "member": member}))
        self._seconds = seconds
        self._stack = ExitStack()
        self._process: SandboxProcess | None = None
        self._realms = 0.0

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def shared(self, inputs: Sequence[str]) -> list[str]:
        """Grade in one realm, as JSON texts of verdicts."""
        return self._pieces(inputs, _PIECE_CALLS, fresh=False)

    def fresh(self, inputs: Sequence[str]) -> list[str]:
        """Grade each in a realm of its own."""
        return self._pieces(inputs, _FRESH_PIECE, fresh=True)

    def _pieces(self, inputs: Sequence[str], most: int, *, fresh: bool) -> list[str]:
        verdicts: list[str] = []
        for piece in _split(inputs, most):
            verdicts += self._piece(piece, fresh=fresh)
        return verdicts

    def _piece(self, piece: Sequence[str], *, fresh: bool) -> list[str]:
        try:
            return self._exchange(piece, fresh=fresh)
        except (GuestEndedError, _OddAnswerError) as failure:
            self._stop()
            if len(piece) == 1 and fresh:
                reason = self._reason(failure) if isinstance(failure, GuestEndedError) else ANOTHER_FORM
                return [json.dumps({"failure": reason})]
        # Which call it was shows when each has a realm and a deadline of its own.
        return [verdict for one in piece for verdict in self._piece([one], fresh=True)]

    def _exchange(self, piece: Sequence[str], *, fresh: bool) -> list[str]:
        cost = len(piece) * (1 if fresh else _MODULES_PER_REALM)
        if self._realms + cost > _RECYCLE:
            self._stop()
        process = self._process or self._start()
        self._realms += cost
        message = line({"fresh": fresh, "calls": f"[{','.join(piece)}]"})
        verdicts = _verdicts(process.exchange(message, timeout_seconds=self._seconds))
        if len(verdicts) != len(piece):
            raise _OddAnswerError
        return verdicts

    def _start(self) -> SandboxProcess:
        process = self._stack.enter_context(self._sandbox.start(self._request))
        self._process, self._realms = process, 2.0
        try:
            header = read_header(process.exchange(self._hello, timeout_seconds=_START_SECONDS), 0)
        except GuestEndedError as ended:
            self._stop()
            raise GuestError(f"the evaluator's module did not load: {self._reason(ended)}") from None
        if header is None or header.status != "ok":
            self._stop()
            raise self._failure(header)
        return process

    def _stop(self) -> None:
        self._process = None
        self._stack.close()
        self._stack = ExitStack()

    def _failure(self, header: Header | None) -> TrunchbuildError:
        if header is None:
            return GuestError(ANOTHER_FORM, place=self._graph.entry)
        told = failure_told_by(header)
        faults = [replace(one, place=author_place(one.place or self._graph.entry, self._graph)) for one in told.faults]
        return type(told)(told.message, faults=faults)

    def _reason(self, ended: GuestEndedError) -> str:
        reasons = {
            "timed-out": f"ran longer than {self._seconds:g} s",
            "cpu-limit": "used up its CPU time",
            "out-of-memory": "needs more memory than there is",
            "too-much-output": "gave back too much",
        }
        return reasons.get(ended.outcome.ending, f"ended its process ({ended.outcome.ending} {ended.outcome.code})")


class _OddAnswerError(Exception):
    """A guest said what is no answer: code that got out of its realm speaks for it. Never leaves this module."""


def _verdicts(answer: bytes) -> list[str]:
    """The verdicts of one answer, each as JSON text with sorted members, so that equal ones are equal texts."""
    try:
        value = json.loads(answer)
        results = value.get("results") if isinstance(value, dict) else None
        if isinstance(results, list):
            return [json.dumps(verdict, ensure_ascii=False, sort_keys=True) for verdict in results]
    except (ValueError, RecursionError):
        pass
    raise _OddAnswerError


def _split(inputs: Sequence[str], most: int) -> Iterator[list[str]]:
    piece: list[str] = []
    size = 0
    for text in inputs:
        if piece and (len(piece) == most or size + len(text) > _PIECE_CHARACTERS):
            yield piece
            piece, size = [], 0
        piece.append(text)
        size += len(text)
    if piece:
        yield piece


def _input(call: EvaluatorCall) -> str:
    value: dict[str, Json] = {
        "output": call.output,
        "caseData": call.case_data,
        "toolCalls": call.tool_calls,
        "caseId": call.case_id,
    }
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _agreed(one: str, two: str) -> EvaluatorOutcome:
    if one != two:
        return EvaluatorFailure(f"{_DIFFERS}: {one} and {two}")
    return _outcome(one)


def _outcome(text: str) -> EvaluatorOutcome:
    """What a verdict's text says. Strictly read: it goes into files that must be readable ever after."""
    try:
        verdict = read_json(text.encode("utf-8", "surrogatepass"), "verdict")
    except JsonError as error:
        return EvaluatorFailure(f"{ANOTHER_FORM}: {error}")
    match verdict:
        case {"failure": str(reason)} if reason:
            return EvaluatorFailure(reason)
        case {
            "passed": bool(passed),
            "score": int() | float() as score,
            "message": str() | None as message,
            "details": details,
        } if not isinstance(score, bool):
            return EvaluatorVerdict(passed, float(score), message, details)
    return EvaluatorFailure(ANOTHER_FORM)
