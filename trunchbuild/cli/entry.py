"""The first lines of the command: until there is something to clean up, a signal ends it at once and quietly."""

from __future__ import annotations

import signal


def run() -> None:
    """Entry point of the command `trunchbuild`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Python would show where in its imports it was.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from trunchbuild.cli.main import run as run_command  # noqa: PLC0415 - after the line above

    run_command()
