"""The only source of time and of random numbers that are not part of a result."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time as the flows see it."""

    def now(self) -> datetime:
        """The current time, zone UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def jitter(self) -> float:
        """A number in [0, 1), for spreading retries; never part of a result."""
        ...
