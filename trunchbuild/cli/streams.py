"""Standard input, output and error as a caller left them: closed, full, or with nobody at the other end."""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Output(FileIO):
    """A descriptor that remembers why it took no more."""

    refusal: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        """Write what the descriptor takes."""
        try:
            return super().write(data)
        except OSError as error:
            self.refusal = error
            raise


_OUTPUTS: list[_Output] = []
"""Standard output of this process, once it is opened; a command's tests write elsewhere."""


def open_standard_streams() -> None:
    """Make standard output and error UTF-8 wherever they go; a terminal's own encoding would make it depend on that.

    Where a caller closed one of them or standard input, nothing else may be opened in its place.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    _OUTPUTS[:] = [_Output(1, "w", closefd=False)]
    sys.stdout = TextIOWrapper(
        BufferedWriter(_OUTPUTS[0]), encoding="utf-8", errors="backslashreplace", line_buffering=_OUTPUTS[0].isatty()
    )
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115 - a descriptor, to the end
    assert isinstance(sys.stderr, TextIOWrapper)
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")


def refusal_of_output() -> OSError | None:
    """Why standard output took no more; None where it took all.

    Where it did not, it points to nowhere from then on, so that nothing that comes later, the interpreter's own last
    flush included, fails.
    """
    for output in _OUTPUTS:
        if output.refusal is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, output.fileno())
            os.close(nowhere)
            return output.refusal
    return None
