"""A clock that only moves when everybody sleeps."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta


class FakeClock:
    """`Clock` and the endpoint's `Timing`: sleeping passes at once and is recorded."""

    def __init__(self, start: datetime = datetime(2027, 1, 1, tzinfo=UTC), jitter: float = 0.5) -> None:
        self._start = start
        self._jitter = jitter
        self.passed = 0.0
        self.slept: list[float] = []
        self._sleepers: list[tuple[float, int]] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        return self.passed

    async def sleep(self, seconds: float) -> None:
        me = (self.passed + seconds, len(self.slept))
        self.slept.append(seconds)
        heapq.heappush(self._sleepers, me)
        while True:
            for _ in range(5):  # let whoever can still do something do it first
                await asyncio.sleep(0)
            if self._sleepers[0] == me:
                heapq.heappop(self._sleepers)
                self.passed = max(self.passed, me[0])
                return

    def jitter(self) -> float:
        return self._jitter
