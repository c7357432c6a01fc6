"""Whole commands under strace: a fault, a signal or a kill at a chosen system call, and the order of all calls."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.shared_data import CHECKOUT
from tests.support.tracing import traced


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended."""

    code: int
    signal: int
    out: str
    err: str
    trace: str = field(default="", repr=False)
    """The calls as strace writes them, each descriptor with its path; empty where none was traced."""

    @property
    def calls(self) -> Counter[str]:
        """How often each call was made."""
        return Counter(re.findall(r"^\d+ +(\w+)\(", self.trace, re.MULTILINE))


class Commands:
    """A server of commands; use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.endings_server"],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait(30)

    def run(
        self, arguments: Sequence[str], folder: Path, *, out: Path | None = None, err: Path | None = None
    ) -> Ending:
        """Run a command in a folder, which also holds its home; `out` and `err` are where its streams go."""
        self._begin(arguments, folder, out, err)
        return self._ended(self._ask("go"), out, err, "")

    def traced(self, arguments: Sequence[str], folder: Path, fault: str | None = None) -> Ending:
        """The same under strace; `fault` is what its `inject` takes (`fsync:error=EIO:when=2`)."""
        process = self._begin(arguments, folder, None, None)
        log = self._folder / "trace"
        with traced(process, log, fault):
            answer = self._ask("go")
        return self._ended(answer, None, None, log.read_text(encoding="utf-8", errors="replace"))

    def _begin(self, arguments: Sequence[str], folder: Path, out: Path | None, err: Path | None) -> int:
        streams = {"out": str(out or self._folder / "out"), "err": str(err or self._folder / "err")}
        return self._ask(json.dumps({"arguments": list(arguments), "folder": str(folder), **streams}))["pid"]

    def _ended(self, answer: dict[str, int], out: Path | None, err: Path | None, trace: str) -> Ending:
        def said(elsewhere: Path | None, name: str) -> str:
            return "" if elsewhere else (self._folder / name).read_text(encoding="utf-8", errors="replace")

        return Ending(answer["code"], answer["signal"], said(out, "out"), said(err, "err"), trace)

    def _ask(self, line: str) -> dict[str, int]:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(line + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        assert answer, "the server of commands is gone"
        return json.loads(answer)  # type: ignore[no-any-return]
