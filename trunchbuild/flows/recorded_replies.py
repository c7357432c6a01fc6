"""Recorded replies by trial, from a run's journal or from its `replies.jsonl`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from trunchbuild.core.ids import RunId
from trunchbuild.core.plan import Trial
from trunchbuild.core.recorded import FAILURE_KINDS, NOT_RECORDED, ReplyBook, TrialReply, book_of, read_replies
from trunchbuild.core.replies import Failure, Step, classify, read_chat_reply
from trunchbuild.effects.files.api import Files
from trunchbuild.effects.journal.api import JOURNAL, JournalError, JournalReader, Journals, RunLockedError, StepRecord
from trunchbuild.errors import BadInputError
from trunchbuild.flows.run_folder import REPLIES

ASKED_AGAIN = frozenset({"failed", "truncated", "filtered", "empty"})
"""Statuses that `--retry-failed` asks again."""


class DroppedRepliesError(BadInputError):
    """The replies of a run were not kept."""

    slug = "replies-not-kept"


def from_journal(journal: JournalReader, trials: Iterable[Trial]) -> Iterator[TrialReply]:
    """The replies of the trials that were asked, in the order given.

    Raises:
        DroppedRepliesError: The text of a reply was dropped on the user's wish.
    """
    for trial in trials:
        steps = journal.steps(trial)
        if steps:
            yield reply_of(steps[-1])


def reply_of(record: StepRecord) -> TrialReply:
    """A trial's reply from its last recorded call.

    Raises:
        DroppedRepliesError: Its text was dropped.
    """
    step: Step
    if record.failure is not None:
        step = _failure(record)
    elif record.body is None:
        raise DroppedRepliesError(
            "the replies of this run were not kept",
            place=str(record.trial),
            hint="it was made with `--no-save-responses`; its results stand as they are",
        )
    else:
        step, _ = read_chat_reply(record.body)
    return TrialReply(
        trial=record.trial,
        step=step,
        latency_ms=record.latency_ms,
        usage=record.usage,
        request_sha256=None if record.request is None else hashlib.sha256(record.request).hexdigest(),
        retried=len(record.retried) if isinstance(record.retried, list) else 0,
    )


def _failure(record: StepRecord) -> Failure:
    """The failure as it was recorded; what is not of its form was not written by this program."""
    try:
        value = json.loads(record.failure or "")
    except (ValueError, RecursionError):
        value = None
    kind, message = (value.get("kind"), value.get("message")) if isinstance(value, dict) else (None, None)
    if kind not in FAILURE_KINDS or not isinstance(message, str):
        raise JournalError("the journal is damaged", place=str(record.trial), got=f"the failure {record.failure!r}")
    return Failure(kind, message, record.http_status)


def from_file(folder: Path, files: Files) -> ReplyBook:
    """The replies of `replies.jsonl`.

    Raises:
        BadInputError: It is missing, or a line is not of its form.
    """
    path = folder / REPLIES
    return book_of(reply for _, reply in read_replies(files.lines(path), str(path)))


def to_ask_again(journal: JournalReader, trials: Iterable[Trial]) -> frozenset[Trial]:
    """The answered trials whose reply `--retry-failed` asks for again."""
    again: set[Trial] = set()
    for reply in from_journal(journal, trials):
        outcome = classify(reply.step)
        if getattr(outcome, "status", None) in ASKED_AGAIN:
            again.add(reply.trial)
    return frozenset(again)


def replies_of_run(folder: Path, run: RunId, files: Files, journals: Journals) -> ReplyBook:
    """A finished run's replies: those that it publishes, or, where there are none, those of its journal.

    Raises:
        BadInputError: It has neither, or a line is not of its form.
        DroppedRepliesError: They were not kept.
        RunLockedError: A process is asking for more of them.
    """
    if journals.in_use(folder):
        raise RunLockedError("another process is running this run", place=str(folder))
    if files.exists(folder / REPLIES):
        return from_file(folder, files)
    reader = journals.read(folder, run)
    if reader is None:
        raise BadInputError("the run has no replies", place=str(folder), expected=f"`{REPLIES}` or `{JOURNAL}`")
    with reader as journal:
        return book_of(from_journal(journal, sorted(journal.recorded())))


def missing_reply(trial: Trial) -> TrialReply:
    """What stands for a trial of which nothing is recorded."""
    return TrialReply(trial, NOT_RECORDED)
