"""The machine's own clock."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime


class SystemClock:
    """`Clock` of this machine."""

    def now(self) -> datetime:
        """See `Clock`."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """See `Clock`."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """See `Clock`."""
        import asyncio  # noqa: PLC0415 - commands that only ask for the time do without

        await asyncio.sleep(seconds)

    def jitter(self) -> float:
        """See `Clock`."""
        return random.random()  # noqa: S311 - spreads retries, no secret
