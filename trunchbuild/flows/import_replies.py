"""Grade replies that were made elsewhere: they become a run like any other, marked as imported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trunchbuild.core.imported import read_imported
from trunchbuild.core.json_types import JsonObject
from trunchbuild.core.recorded import book_of
from trunchbuild.core.run_spec import RunSpec, choose_evals
from trunchbuild.core.summary import Summary
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.errors import BadInputError
from trunchbuild.flows.evaluate import is_partial
from trunchbuild.flows.grade import GradeDoors, RunHere, cost_of, grade_and_write
from trunchbuild.flows.read_cases import case_ids, plan_run
from trunchbuild.flows.run_folder import REPLIES, RESULTS, RUN, RunFile, begin_run

IMPORTED = "imported"


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """What to import and where to put the run."""

    replies: Path
    folder: Path
    evals: tuple[str, ...]
    """Ids; all evals where there are none."""
    model: str | None
    label: str | None
    min_coverage: float
    record: JsonObject


def import_replies(release: ReleaseFiles, order: ImportOrder, doors: GradeDoors) -> Summary:
    """Make a run of replies; a case without one is a failed call.

    Raises:
        BadInputError: A line names an unknown case, or a trial has two; the folder holds a run already.
    """
    files = doors.files
    for name in (RUN, RESULTS, REPLIES):
        if files.exists(order.folder / name):
            raise BadInputError(
                "the folder holds a run already",
                place=str(order.folder),
                hint="`-o` with a folder that is new or empty",
            )
    evals = choose_evals([entry.id for entry in release.manifest.evals], order.evals)
    imported = read_imported(files.lines(order.replies), case_ids(release), evals, str(order.replies))
    spec = RunSpec(
        release=release.digest,
        evals=evals,
        model=order.model or IMPORTED,
        label=order.label or IMPORTED,
        repeat=imported.repeat,
        request=None,
    )
    plan = plan_run(release, spec)
    book = book_of(reply for reply in imported.replies if reply.trial.case not in plan.need_environment)
    run_file = RunFile(spec, is_partial(release, spec), order.record)
    files.make_folder(order.folder)
    begin_run(order.folder, run_file, files)
    run = RunHere(order.folder, run_file, release, plan)
    cost = cost_of(book.replies.values())
    return grade_and_write(run, book, doors, min_coverage=order.min_coverage, cost=cost)
