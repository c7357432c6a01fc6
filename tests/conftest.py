"""What every test shares: in CI, property tests draw the same examples every time."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# A shell that runs the tests in the background has them ignore interrupts, and every process they start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")
