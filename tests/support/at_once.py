"""Real processes that begin an operation at the same moment: `python -m tests.support.at_once OPERATION`.

Each imports everything, says `ready`, and then runs its operation once for each line it reads, the folder's path. It
answers a line `{"code", "text"}`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support import operations
from tests.support.shared_data import CHECKOUT
from trunchbuild.cli.failures import InternalError, explain


class Crowd:
    """Processes that wait; made by `crowd`."""

    def __init__(self, processes: Sequence[subprocess.Popen[str]]) -> None:
        self._processes = processes

    def run(self, folder: Path) -> list[tuple[int, str]]:
        """Let all begin at once; exit code and text of each."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{folder}\n")
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.flush()
        return [self._answer(process) for process in self._processes]

    @staticmethod
    def _answer(process: subprocess.Popen[str]) -> tuple[int, str]:
        assert process.stdout is not None
        answer = json.loads(process.stdout.readline())
        return answer["code"], answer["text"]


@contextmanager
def crowd(*names: str) -> Iterator[Crowd]:
    """One process for each operation, ready to begin."""
    with ExitStack() as stack:
        processes = []
        for name in names:
            command = [sys.executable, "-m", "tests.support.at_once", name]
            process = subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes.append(stack.enter_context(process))
            assert process.stdin is not None
            stack.callback(process.stdin.close)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield Crowd(processes)


def main() -> None:
    """Run the operation for each folder that comes."""
    operation = operations.MORE_OPERATIONS[sys.argv[1]]
    print("ready", flush=True)
    for line in sys.stdin:
        code, text = 0, ""
        try:
            operation(Path(line.removesuffix("\n")))
        except Exception as error:
            known = explain(error, debug=True)
            internal = isinstance(known, InternalError)
            code, text = (99, traceback.format_exc()) if internal else (int(known.exit_code), str(known))
        print(json.dumps({"code": code, "text": text}), flush=True)


if __name__ == "__main__":
    main()
