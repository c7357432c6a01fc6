"""Makes one system call of an operation fail, or kills it there: by strace, outside of every line of ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.operations import PREPARATIONS
from tests.support.shared_data import CHECKOUT
from tests.support.tracing import traced


@dataclass(frozen=True, slots=True)
class Ended:
    """How an operation ended."""

    code: int
    signal: int
    text: str
    calls: tuple[tuple[str, str], ...]
    """Each call's name and arguments, descriptors with their paths."""

    def numbers(self, call: str, folder: Path | None = None) -> list[int]:
        """Which of the calls of this name, from 1; with a folder those alone that name something in it."""
        texts = [text for name, text in self.calls if name == call]
        return [number for number, text in enumerate(texts, 1) if folder is None or str(folder) in text]


class FaultLab:
    """A server of operations, and a folder for them; use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fault_server"],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._templates: dict[str, Path] = {}
        self._count = 0

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

    def prepared(self, operation: str) -> Path:
        """A fresh copy of the folder in its old state."""
        template = self._templates.get(operation)
        if template is None:
            template = self._templates[operation] = self._folder / f"{operation}-template"
            PREPARATIONS[operation](template)
        self._count += 1
        copy = self._folder / f"{operation}-{self._count}"
        shutil.copytree(template, copy, symlinks=True)
        return copy

    def run(self, operation: str, folder: Path, fault: str | None = None) -> Ended:
        """Run an operation under strace; `fault` is what its `inject` takes (`fsync:error=EIO:when=2`)."""
        gate = self._folder / "gate"
        gate.unlink(missing_ok=True)
        os.mkfifo(gate)
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps({"op": operation, "folder": str(folder), "gate": str(gate)}) + "\n")
        self._server.stdin.flush()
        process = self._answer()["pid"]
        log = self._folder / "trace"
        with traced(int(str(process)), log, fault):
            opened = os.open(gate, os.O_RDWR)
            os.write(opened, b"g")
            answer = self._answer()
            os.close(opened)
        text = log.read_text(encoding="utf-8", errors="replace")
        called = tuple(re.findall(r"^\d+ +(\w+)\((.*)$", text, re.MULTILINE))
        return Ended(answer["code"], answer["signal"], answer["text"], called)

    def _answer(self) -> dict[str, object]:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        assert line, "the server of operations is gone"
        return json.loads(line)  # type: ignore[no-any-return]
