"""Stands in for `ssh`: notes its arguments in the file that the first one names, and runs the command here.

The second argument says which protocol the server understands: `0` for one that ignores `GIT_PROTOCOL`, as `sshd` does
unless it is told to accept it. Over HTTP a server of version 0 gives any reachable commit; over ssh it gives tips only.
Or it is the name of a server that means ill, see `_HOSTILE`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_LINE = b"0041" + b"1" * 40 + b" refs/heads/%08d\n"


def _silent() -> None:
    sys.stdin.buffer.read()


def _deaf() -> None:
    """Neither speaks nor listens, and does not go when it is left."""
    while True:
        signal.pause()


def _noisy() -> None:
    """Talks to people only."""
    while True:
        os.write(2, b"please wait " * 1000 + b"\n")


def _refs() -> None:
    """A list of refs without end."""
    for number in range(100_000_000):
        os.write(1, _LINE % number)


def _told() -> None:
    """Says why not, with an escape in it."""
    os.write(2, b"\x1b]0;owned\x07ERROR: \x1b[31mno\n" + b"ERROR: go \x1b[31maway\n" + b"more\n" * 100_000)


_HOSTILE: dict[str, Callable[[], None]] = {
    "silent": _silent,
    "deaf": _deaf,
    "noisy": _noisy,
    "refs": _refs,
    "told": _told,
}


def main() -> None:
    log, protocol, *arguments = sys.argv[1:]
    with Path(log).open("a") as file:
        file.write(json.dumps([*arguments, os.getpid()] if protocol in _HOSTILE else arguments) + "\n")
    if protocol in _HOSTILE:
        with suppress(BrokenPipeError):
            _HOSTILE[protocol]()
        return
    for option in arguments:
        if protocol == "2" and option.startswith("SetEnv GIT_PROTOCOL="):
            os.environ["GIT_PROTOCOL"] = option.removeprefix("SetEnv GIT_PROTOCOL=")
    os.execvp("sh", ["sh", "-c", arguments[-1]])


if __name__ == "__main__":
    main()
