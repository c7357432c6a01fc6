"""What a run has asked and was told, on disk before it counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import Json
from trunchbuild.core.plan import Recorded, Trial
from trunchbuild.errors import ExitCode, MachineError

JOURNAL = "journal.sqlite"
GROUP_SECONDS = 0.05
GROUP_REPLIES = 64
"""A commit is made after this time or number at the latest; what a crash loses in between is asked again."""

Origin = Literal["endpoint"]


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One call of one trial: the exact request and the raw end."""

    trial: Trial
    round: int
    """0, and one more each time the trial is asked again; the highest counts."""
    step: int
    """Calls within one trial count from 0; a trial without tools has one."""
    final: bool
    """Whether the trial ended with this call."""
    failed: bool
    """Whether it ended without a reply, so that it is asked again."""
    request: bytes | None
    """The body as it was sent; None after replies were dropped."""
    http_status: int | None
    body: bytes | None
    """The raw reply, redacted; None where none came, and after replies were dropped on the user's wish."""
    failure: str | None
    """For a call without a reply: kind and message as JSON."""
    started: str
    """RFC 3339, UTC."""
    latency_ms: float
    usage: Json
    """As the endpoint states it; None is unknown."""
    retried: Json
    """The tries before the one that counts, in order: outcome and latency of each."""
    origin: Origin = "endpoint"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has cost so far, over all rounds and tries."""

    calls: int
    calls_of_unknown_usage: int
    """Calls whose tokens nobody stated: failures, given-up tries, servers without `usage`."""
    tokens: int
    """Of all calls that stated them."""


class JournalReader(Protocol):
    """A run's journal, read."""

    def recorded(self) -> Mapping[Trial, Recorded]:
        """Every trial that was asked, by how its latest round stands."""
        ...

    def rounds(self) -> Mapping[Trial, int]:
        """The latest round of every trial that was asked."""
        ...

    def steps(self, trial: Trial) -> list[StepRecord]:
        """The latest round's calls in order; empty for a trial that was not asked."""
        ...

    def records(self) -> Iterator[StepRecord]:
        """Every call of every round, in the order of commits."""
        ...

    def dropped(self) -> frozenset[Trial]:
        """The trials whose texts were dropped on the user's wish."""
        ...

    def spent(self) -> Spent:
        """The cost of all that is recorded."""
        ...


class Journal(JournalReader, Protocol):
    """A run's journal while it is written; this process alone has it."""

    def record(self, step: StepRecord) -> None:
        """Take a call to be committed within the group's time; returns at once. Called within an event loop.

        Raises:
            JournalError: An earlier group could not be committed.
        """
        ...

    async def flush(self) -> None:
        """Return when everything recorded is committed.

        Raises:
            JournalError: It could not be; the disk is full, for example.
        """
        ...

    def drop_replies(self) -> None:
        """Remove the text of all requests and replies for good; what was asked and how it ended stays."""
        ...


class Journals(Protocol):
    """Opens journals in run folders."""

    def in_use(self, folder: Path) -> bool:
        """Whether a process has the folder's journal open for writing."""
        ...

    def open(self, folder: Path, run: Digest) -> AbstractContextManager[Journal]:
        """Open or begin the journal of one run for writing, and lock it until the context is left.

        Raises:
            RunLockedError: Another process has it.
            JournalError: It is another run's, no journal, torn, of another version, or on a network file system.
        """
        ...

    def read(self, folder: Path, run: Digest) -> AbstractContextManager[JournalReader] | None:
        """Open a journal for reading alone; None where the folder has none.

        Raises:
            JournalError: As above, but for the file system.
        """
        ...


class JournalError(MachineError):
    """The journal cannot be used or written."""

    slug, exit_code = "journal", ExitCode.MACHINE


class RunLockedError(JournalError):
    """Another process is running the same run."""

    slug, exit_code = "run-locked", ExitCode.MACHINE
