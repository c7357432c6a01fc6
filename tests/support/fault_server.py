"""Runs operations in processes that are made at once, so that thousands can be made to fail one after the other.

Everything is imported once; each operation is a forked child. `python -m tests.support.fault_server` reads a line
`{"op", "folder", "gate"}`, forks, answers `{"pid"}`; the child waits at the gate (a named pipe) until a tracer has hold
of it, runs the operation and ends. Then the server answers `{"code", "signal", "text"}`.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import sys
import traceback
from pathlib import Path

from tests.support import operations
from trunchbuild.cli.failures import InternalError, explain
from trunchbuild.errors import ExitCode

UNFORESEEN = 99
_TEXT = 1 << 16
_PR_SET_PTRACER, _ANY = 0x59616D61, -1


def child(order: dict[str, str], text: mmap.mmap) -> int:
    """Run one operation; what it says goes into shared memory, which no fault can reach."""
    with Path(order["gate"]).open("rb") as gate:
        gate.read(1)
    try:
        operations.OPERATIONS[order["op"]](Path(order["folder"]))
    except Exception as error:
        known = explain(error, debug=True)
        said = traceback.format_exc() if isinstance(known, InternalError) else f"{known} {known.hint or ''}"
        data = said.encode()[: _TEXT - 1]
        text[: len(data)] = data
        return UNFORESEEN if isinstance(known, InternalError) else int(known.exit_code)
    return int(ExitCode.YES)


def main() -> None:
    """Answer orders until standard input ends."""
    # Where only a parent may trace, anyone of the same user may trace these.
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_long(_ANY), 0, 0, 0)
    for line in sys.stdin:
        text = mmap.mmap(-1, _TEXT)
        process = os.fork()
        if process == 0:
            ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_long(_ANY), 0, 0, 0)
            code = UNFORESEEN
            try:
                code = child(json.loads(line), text)
            finally:
                os._exit(code)
        print(json.dumps({"pid": process}), flush=True)
        _, status = os.waitpid(process, 0)
        signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
        said = text[:].rstrip(b"\0").decode("utf-8", "replace")
        print(json.dumps({"code": code, "signal": signalled, "text": said}), flush=True)
        text.close()


if __name__ == "__main__":
    main()
