"""When the next call may be sent: one gate for all calls to an endpoint, retries among them."""

from __future__ import annotations

from trunchbuild.effects.endpoint.api import Timing

_FIRST_GAP = 0.1
_LONGEST_GAP = 10.0
_EASING = 0.95


class RateGate:
    """Spaces calls by a stated rate and by what the endpoint's 429 replies teach.

    A 429 closes the gate for everyone until the moment that it names, and doubles the gap between calls; each reply
    that is none narrows the gap again, down to the stated rate. Seconds throughout.
    """

    def __init__(self, timing: Timing, calls_per_minute: float | None) -> None:
        self._timing = timing
        self._stated_gap = 60.0 / calls_per_minute if calls_per_minute else 0.0
        self._gap = self._stated_gap
        self._next = 0.0
        self._closed_until = 0.0

    async def enter(self) -> None:
        """Wait for this call's turn; turns are given in the order of asking."""
        now = self._timing.monotonic()
        while self._gap or self._next > now:
            turn = max(self._next, now)
            self._next = turn + self._gap
            if turn > now:
                await self._timing.sleep(turn - now)
            now = self._timing.monotonic()
            # The gate may have closed during the sleep: then the turn is void, and another one is taken.
            if self._closed_until <= max(turn, now):
                return

    def too_many(self, wait: float) -> None:
        """A 429 came: nobody calls for `wait` seconds, and calls come slower after that."""
        self._gap = min(max(self._gap * 2, _FIRST_GAP), max(_LONGEST_GAP, self._stated_gap))
        self._closed_until = max(self._closed_until, self._timing.monotonic() + wait)
        self._next = max(self._next, self._closed_until)

    def accepted(self) -> None:
        """A reply came that was no 429."""
        if self._gap > self._stated_gap:
            narrowed = self._gap * _EASING
            self._gap = narrowed if narrowed > max(self._stated_gap, _FIRST_GAP / 10) else self._stated_gap
