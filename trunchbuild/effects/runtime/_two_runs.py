"""Runs a guest twice, side by side, and keeps only what both runs gave alike. Shared by both languages.

Every confined run reads its standard input and answers on standard output: one header line in JSON, then the result,
which for cases is JSON lines. The bytes of the result are hashed here as they come; nobody re-serialises them.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from trunchbuild.core.confinement import Limits, Sandbox, SandboxOutcome, SandboxRequest
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.modules import ModuleRefusedError
from trunchbuild.core.policy_codes import with_code
from trunchbuild.core.strict_json import read_json
from trunchbuild.effects.runtime.api import GuestError, GuestLimitError, Look, TransformDiffersError, Transformed
from trunchbuild.errors import Fault, TrunchbuildError

_HEADER_BYTES = 1 << 20

ANOTHER_FORM = "the runner's answer has another form"
"""The author's code runs in one process with the runner: what that process says is a stranger's word."""

DIFFERS = "two confined runs of the same code on the same input gave different output"


@dataclass(frozen=True, slots=True)
class GuestRun:
    """One of the two runs. `stdin` is a file of its own, so that the runs share nothing they could talk through."""

    request: SandboxRequest
    stdin: IO[bytes]
    about: str = ""
    """The author's file that runs, for failures that have no nearer place."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of an answer: an object with `status`, and with `bytes` where a body follows.

    `ok`: the members tell about a success (`name`, `count`); those that start with `hint` may differ between the runs.
    `refused`: the code used what is not available. `threw`, `invalid` (a wrong module or result), `limit`, `link`,
    `syntax`: it failed. Then the members are `message`, `place` and `hint`, or a list `faults` of such.
    """

    status: str
    fields: JsonObject


@dataclass(frozen=True, slots=True)
class Answer:
    """How one run ended and what it gave."""

    outcome: SandboxOutcome
    header: Header | None
    """None where the guest ended without a whole and true answer."""
    sha256: str
    body: IO[bytes]
    """The bytes after the header, in an unlinked temporary file positioned at its start."""
    lines: int
    """Line feeds of the body."""

    @property
    def ok(self) -> bool:
        """Whether the run gave a result."""
        return self.header is not None and self.header.status == "ok"


Explain = Callable[[IO[bytes], IO[bytes], Sequence[str]], Sequence[Fault]]
"""Two different bodies and the guests' hints -> what differs, with likely causes."""


@contextmanager
def guest_input(*chunks: bytes) -> Iterator[IO[bytes]]:
    """An unlinked temporary file for standard input."""
    with tempfile.TemporaryFile() as file:
        for chunk in chunks:
            file.write(chunk)
        file.seek(0)
        yield file


def run_once(sandbox: Sandbox, run: GuestRun) -> Answer:
    """Run to the end and take the answer apart. The receiver closes `body`."""
    splitter = _Splitter()
    try:
        outcome = sandbox.run(run.request, run.stdin, splitter.add)
    except BaseException:
        splitter.body.close()
        raise
    splitter.body.seek(0)
    header = splitter.header() if outcome.ending == "exited" and outcome.code == 0 else None
    return Answer(outcome, header, splitter.digest.hexdigest(), splitter.body, splitter.lines)


class HeldBack:
    """Looks at the first run's body while the second still runs; what it has to say waits until both are equal."""

    def __init__(self, look: Look | None) -> None:
        self._look = look
        self._error: Exception | None = None

    def see(self, answer: Answer) -> None:
        """Look at an answer's body, if it is a result."""
        if self._look is None or not answer.ok:
            return
        try:
            self._look(answer.body)
        except Exception as error:
            self._error = error
        finally:
            answer.body.seek(0)

    def tell(self, answer: Answer) -> None:
        """Raise what was held back; `answer` is then of no more use."""
        if self._error is not None:
            answer.body.close()
            raise self._error


def run_twice(
    sandbox: Sandbox, runs: tuple[GuestRun, GuestRun], explain: Explain, held_back: HeldBack | None = None
) -> Answer:
    """Run both at once and return the first answer, which equals the second. The receiver closes its `body`.

    Raises:
        TransformDiffersError: They differ.
        ModuleRefusedError, GuestLimitError, GuestError: The guest failed; where both failed, the first one's reason.
    """
    second: list[Answer | BaseException] = []

    def run_second() -> None:
        try:
            second.append(run_once(sandbox, runs[1]))
        except BaseException as error:
            second.append(error)

    # A daemon: when the user interrupts the first run, the process may leave, and the kernel ends the second with it.
    thread = threading.Thread(target=run_second, name="second-run", daemon=True)
    thread.start()
    try:
        first = run_once(sandbox, runs[0])
    except Exception:
        thread.join()
        if isinstance(second[0], Answer):
            second[0].body.close()
        raise
    if held_back is not None:
        held_back.see(first)
    thread.join()
    other = second[0]
    if isinstance(other, BaseException):
        first.body.close()
        raise other
    try:
        insist_on_equal(first, other, runs, explain)
    except BaseException:
        first.body.close()
        raise
    finally:
        other.body.close()
    return first


def insist_on_equal(first: Answer, second: Answer, runs: tuple[GuestRun, GuestRun], explain: Explain) -> None:
    """Raise as `run_twice` does, unless both runs gave the same result."""
    if not first.ok:
        raise failure_of(first, runs[0])
    if not second.ok:
        failure = failure_of(second, runs[1])
        if isinstance(failure, (ModuleRefusedError, GuestLimitError)):
            raise failure
        raise TransformDiffersError(
            f"{DIFFERS}: the first gave a result, the second failed",
            faults=[Fault(fault.place, f"second run: {fault.message}") for fault in failure.faults],
            hint="the runs differ in hash seed, stack depth and memory; the result must not depend on them",
        )
    assert first.header is not None
    assert second.header is not None
    one, two = first.header.fields, second.header.fields
    if first.sha256 != second.sha256:
        hints = list(dict.fromkeys([*_hints(one), *_hints(two)]))
        raise TransformDiffersError(DIFFERS, faults=explain(first.body, second.body, hints))
    for key in sorted({*one, *two}):
        if one.get(key) != two.get(key) and not key.startswith("hint"):
            place = f"{runs[0].about} {key}".lstrip()
            raise TransformDiffersError(DIFFERS, place=place, expected=repr(one.get(key)), got=repr(two.get(key)))


def transformed(answer: Answer, about: str) -> Transformed:
    """The cases that a transformer gave; the receiver closes them.

    Raises:
        GuestError: The header does not tell of these cases.
    """
    fields = answer.header.fields if answer.header is not None else {}
    match fields:
        case {"name": str(name), "count": int(count)} if count == answer.lines and not isinstance(count, bool):
            return Transformed(name, count, answer.sha256, answer.body)
    answer.body.close()
    raise GuestError(ANOTHER_FORM, place=about, expected=f"the name and the number of {answer.lines} cases")


def _hints(fields: JsonObject) -> list[str]:
    hints = fields.get("hints")
    return [str(hint) for hint in hints] if isinstance(hints, list) else []


def failure_of(answer: Answer, run: GuestRun) -> TrunchbuildError:
    """The error for the author that a failed run stands for."""
    outcome, header = answer.outcome, answer.header
    limit = _LIMITS.get(outcome.ending)
    if limit is not None:
        hint = "the limits are the same on every machine; do less work per run"
        return GuestLimitError(limit(run.request.limits), place=run.about, hint=hint)
    if header is None:
        last_words = outcome.diagnostics.strip().splitlines()[-3:]
        return GuestError(
            f"the runner ended without an answer ({outcome.ending} {outcome.code})",
            place=run.about,
            got=" / ".join(last_words) or None,
        )
    return failure_told_by(header)


def failure_told_by(header: Header) -> TrunchbuildError:
    """The error that a header tells of which is not `ok`."""
    listed = header.fields.get("faults")
    faults = [_fault(fault) for fault in listed if isinstance(fault, Mapping)] if isinstance(listed, list) else []
    kinds: Mapping[str, type[TrunchbuildError]] = {"refused": ModuleRefusedError, "limit": GuestLimitError}
    message = str(header.fields.get("message") or header.status or ANOTHER_FORM)
    faults = faults or [_fault({**header.fields, "message": message})]
    if header.status == "refused":
        faults = [with_code(fault) for fault in faults]
    return kinds.get(header.status, GuestError)(message, faults=faults)


def _fault(fields: Mapping[str, Json]) -> Fault:
    hint = fields.get("hint")
    message = str(fields.get("message") or "no reason given")
    return Fault(str(fields.get("place", "")), message, hint=str(hint) if hint else None)


_LIMITS: Mapping[str, Callable[[Limits], str]] = {
    "timed-out": lambda limits: f"the code ran longer than {limits.wall_seconds:g} s",
    "cpu-limit": lambda limits: f"the code used more than {limits.cpu_seconds} s of CPU time",
    "out-of-memory": lambda limits: f"the code needs more memory than {limits.address_space_bytes >> 20} MiB",
    "too-much-output": lambda limits: f"the code gave back more than {limits.output_bytes >> 20} MiB",
}


class _Splitter:
    """Keeps the header line apart from the body, which goes to a file and is hashed on its way."""

    def __init__(self) -> None:
        self.body: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - handed on
        self.digest = hashlib.sha256()
        self._first = bytearray()
        self._header_is_whole = False
        self._size = 0
        self.lines = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes of the answer."""
        if not self._header_is_whole:
            self._first += chunk
            end = self._first.find(b"\n")
            if end < 0:
                # No true header is as long; what follows would only fill the memory.
                del self._first[_HEADER_BYTES:]
                return
            chunk = bytes(self._first[end + 1 :])
            del self._first[end:]
            self._header_is_whole = True
        self.digest.update(chunk)
        self.body.write(chunk)
        self._size += len(chunk)
        self.lines += chunk.count(b"\n")

    def header(self) -> Header | None:
        """The header, if it is one and its body is as long as it says."""
        return read_header(bytes(self._first), self._size) if self._header_is_whole else None


def read_header(line: bytes, size: int) -> Header | None:
    """A header line, without its LF; None where it is none, or not that of a body of `size` bytes."""
    try:
        value = read_json(line, "answer of the runner")
    except TrunchbuildError:
        return None
    if not isinstance(value, Mapping) or value.get("bytes", 0) != size:
        return None
    status = value.get("status")
    return Header(status, {**value}) if isinstance(status, str) else None
