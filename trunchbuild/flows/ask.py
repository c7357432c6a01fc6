"""Ask a model the trials of a run that have no reply yet; every reply is committed before it counts."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from trunchbuild.core.ids import CaseId
from trunchbuild.core.plan import Trial
from trunchbuild.core.public_case import EffectiveCase
from trunchbuild.core.replies import Failure, total_tokens
from trunchbuild.core.requests import request_body
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.effects.endpoint.api import CallLimits, Endpoint, EndpointError, Endpoints, Exchange, Target
from trunchbuild.effects.journal.api import Journal, StepRecord
from trunchbuild.errors import CheckedNoError

RAMP = 64
"""Connections that are opened at once."""
RAMP_SECONDS = 0.02
"""Further ones are opened at this pace, and only while replies take longer than this: an endpoint that answers at once
is served best by few connections, and each costs as much to open as several calls."""
RAMP_SLACK = 1.25
"""A pause that took longer than this many times its length says that this process is busy already."""
HOPELESS = 20
"""So many calls in a row, from the first on, that fail for a reason which is not the case's end the run early."""
DRAIN_SECONDS = 30.0
"""When something stops the run, calls that are under way have this long to come back: they may have been paid for."""
_HOPELESS_STATUS = (None, 401, 403, 404)


class TokenBudgetError(CheckedNoError):
    """The run has used up the tokens that it may."""

    slug = "token-budget"


class HopelessEndpointError(EndpointError):
    """Not one call came through."""

    slug = "endpoint-hopeless"


@dataclass(frozen=True, slots=True)
class Asking:
    """How to ask; nothing of this changes what is asked."""

    target: Target
    limits: CallLimits
    max_total_tokens: int | None = None
    tokens_used: int = 0
    """By earlier sessions of the run."""


@dataclass(frozen=True, slots=True)
class Question:
    """One trial that is to be asked now."""

    trial: Trial
    round: int
    body: bytes


def questions(
    cases: Iterable[EffectiveCase], wanted: Iterable[Trial], rounds: Mapping[Trial, int], spec: RunSpec
) -> Iterator[Question]:
    """The requests of the wanted trials, one at a time, in the order of `cases`."""
    repeats: dict[CaseId, list[int]] = {}
    for trial in wanted:
        repeats.setdefault(trial.case, []).append(trial.repeat)
    for case in cases:
        for repeat in repeats.get(case.case, ()):
            trial = Trial(case.case.eval, case.case.id, repeat)
            yield Question(trial, rounds.get(trial, -1) + 1, request_body(case, spec, repeat))


def ask_all(
    todo: Iterator[Question], asking: Asking, *, endpoints: Endpoints, journal: Journal, advance: Callable[[str], None]
) -> None:
    """Ask everything in `todo`; returns when all of it is committed. `advance` is called after each trial.

    Raises:
        EndpointError: Something stands in the way of every call; what was answered is committed.
        TokenBudgetError: The budget is used up; what was under way was still taken.
    """
    try:
        asyncio.run(_ask_all(todo, asking, endpoints, journal, advance))
    except BaseExceptionGroup as group:
        raise _first(group) from None


async def _ask_all(
    todo: Iterator[Question],
    asking: Asking,
    endpoints: Endpoints,
    journal: Journal,
    advance: Callable[[str], None],
) -> None:
    async with endpoints.connect(asking.target, asking.limits) as endpoint:
        session = _Session(todo, asking, endpoint, journal, advance)
        try:
            await session.run()
        finally:
            await journal.flush()
    if session.over_budget:
        raise TokenBudgetError(
            "the token budget of the run is used up",
            expected=f"at most {asking.max_total_tokens} tokens",
            got=f"{session.tokens}",
            hint="all replies so far are kept; the same command with a higher `--max-total-tokens` goes on",
        )


class _Session:
    """The workers of one session; they share the questions, the endpoint and the journal."""

    def __init__(
        self,
        todo: Iterator[Question],
        asking: Asking,
        endpoint: Endpoint,
        journal: Journal,
        advance: Callable[[str], None],
    ) -> None:
        self._todo = todo
        self._asking = asking
        self._endpoint = endpoint
        self._journal = journal
        self._advance = advance
        self._done = 0
        self._failures: Counter[int | None] = Counter()
        self._any_reply = False
        self._stopped: EndpointError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._cancel: Callable[[], object] = lambda: None
        self.tokens = asking.tokens_used
        self.over_budget = self._spent_too_much()
        self._open = not self.over_budget

    async def run(self) -> None:
        """Ask until nothing is left; opens connections as they help.

        Raises:
            EndpointError: The first one of any call.
        """
        wanted = self._asking.limits.connections
        async with asyncio.TaskGroup() as group:
            tasks = {group.create_task(self._work()) for _ in range(min(wanted, RAMP))}
            self._cancel = lambda: [task.cancel() for task in tasks]
            clock = asyncio.get_running_loop().time
            while len(tasks) < wanted and self._open:
                before, began = self._done, clock()
                await asyncio.wait(tasks, timeout=RAMP_SECONDS)
                idle = clock() - began < RAMP_SECONDS * RAMP_SLACK
                if idle and self._done - before < len(tasks) and self._open:
                    tasks |= {group.create_task(self._work()) for _ in range(min(wanted - len(tasks), RAMP))}
        if self._timer is not None:
            self._timer.cancel()
        if self._stopped is not None:
            raise self._stopped

    async def _work(self) -> None:
        while self._open:
            question = next(self._todo, None)
            if question is None:
                self._open = False
                return
            try:
                exchange = await self._endpoint.ask(question.body)
            except EndpointError as error:
                self._stop(error)
                return
            self._journal.record(_record(question, exchange))
            self._done += 1
            self._count(exchange)
            self._advance("" if not isinstance(exchange.step, Failure) else exchange.step.message)

    def _stop(self, error: EndpointError) -> None:
        """Ask nothing more; what is under way may still come back for a while."""
        if self._stopped is None:
            self._stopped, self._open = error, False
            self._timer = asyncio.get_running_loop().call_later(DRAIN_SECONDS, self._cancel)

    def _count(self, exchange: Exchange) -> None:
        self.tokens += total_tokens(exchange.usage) or 0
        if self._spent_too_much():
            self.over_budget, self._open = True, False
        if not isinstance(exchange.step, Failure):
            self._any_reply = True
        elif not self._any_reply and exchange.http_status in _HOPELESS_STATUS:
            self._failures[exchange.http_status] += 1
            if self._failures[exchange.http_status] == self._done == HOPELESS:
                self._stop(
                    HopelessEndpointError(
                        f"the first {HOPELESS} calls all failed",
                        got=exchange.step.message,
                        hint="check base URL, key and model; the same command goes on from here",
                    )
                )

    def _spent_too_much(self) -> bool:
        budget = self._asking.max_total_tokens
        return budget is not None and self.tokens >= budget


def _record(question: Question, exchange: Exchange) -> StepRecord:
    step = exchange.step
    # What an endpoint lacks it will lack the next time too: such a trial has its end.
    failed = isinstance(step, Failure) and step.kind != "unsupported"
    return StepRecord(
        trial=question.trial,
        round=question.round,
        step=0,
        final=True,
        failed=failed,
        request=question.body,
        http_status=exchange.http_status,
        body=exchange.body,
        failure=json.dumps({"kind": step.kind, "message": step.message}) if isinstance(step, Failure) else None,
        started=exchange.started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        latency_ms=round(exchange.latency_ms, 1),
        usage=exchange.usage,
        retried=[
            {"outcome": attempt.outcome, "latency_ms": round(attempt.latency_ms, 1)} for attempt in exchange.retried
        ],
    )


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that ended the session; the others are workers that ended with it."""
    for error in group.exceptions:
        return _first(error) if isinstance(error, BaseExceptionGroup) else error
    return group
