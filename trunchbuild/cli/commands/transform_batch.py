"""`trunchbuild transform-batch`."""

from __future__ import annotations

import os

import click

from trunchbuild.cli import failures
from trunchbuild.cli.options import json_option, runs_code
from trunchbuild.cli.render import note, progress, say, show_json
from trunchbuild.cli.wiring import App
from trunchbuild.core.batch import JobResult
from trunchbuild.core.json_types import JsonObject
from trunchbuild.errors import UsageError
from trunchbuild.flows.batch import BatchOutcome, JobFailure, transform_batch
from trunchbuild.flows.transform_files import TransformTools


@click.command("transform-batch", short_help="Run every transformer of a batch manifest.")
@click.argument("manifest", required=False, metavar="MANIFEST")
@click.option("--manifest", "named", metavar="MANIFEST", help="The same, as an option.")
@click.option(
    "--jobs", "parallel", type=click.IntRange(min=1), metavar="N", help="Jobs at a time. [default: half the cores]"
)
@click.option("--check", is_flag=True, help="Write nothing; compare with what is on disk.")
@runs_code
@json_option
@click.pass_obj
def command(
    app: App, *, manifest: str | None, named: str | None, parallel: int | None, check: bool, as_json: bool
) -> int:
    """Run every job of a batch MANIFEST; write exports and receipts, and one report when all passed.

    Paths in the manifest are relative to it. A job that fails leaves nothing behind and does not stop the others; the
    exit code is then that of the first one in the manifest that failed.
    """
    if (manifest is None) == (named is None):
        raise UsageError("name one batch manifest", expected="MANIFEST or --manifest=PATH")
    tools = TransformTools(app.files, app.folders, app.runtime, app.schemas)
    path = tools.files.resolve(tools.files.current_folder() / (manifest or named or ""))
    # Each job runs its transformer in two processes.
    workers = parallel or max(1, (os.cpu_count() or 1) // 2)
    with progress("jobs", None) as bar:

        def job_ended(job: JobResult | JobFailure) -> None:
            bar.advance(1, job.id)

        outcome = transform_batch(path, tools, parallel=workers, check=check, job_ended=job_ended)
    if as_json:
        show_json(_document(outcome, check=check))
    else:
        _show(outcome, check=check)
    return outcome.exit_code


def _show(outcome: BatchOutcome, *, check: bool) -> None:
    for job in outcome.jobs:
        if isinstance(job, JobResult):
            say(f"{job.id}: {job.case_count:,} cases, {'as on disk' if check else 'wrote'} {job.output}")
            continue
        note(f"{job.id}: failed")
        for line in failures.lines(job.error):
            note(f"  {line}" if line else "")
    if outcome.report_error is not None:
        failures.show(outcome.report_error, as_json=False)
    elif outcome.report is None:
        failed = sum(isinstance(job, JobFailure) for job in outcome.jobs)
        note(f"{failed} of {len(outcome.jobs)} jobs failed; no report")
    else:
        say(f"report: {'as on disk' if check else 'wrote'} {outcome.report.name}")


def _document(outcome: BatchOutcome, *, check: bool) -> JsonObject:
    jobs: list[JsonObject] = [
        {
            "id": job.id,
            "ok": True,
            "transformer": job.transformer_name,
            "caseCount": job.case_count,
            "output": job.output,
            "receipt": job.receipt,
        }
        if isinstance(job, JobResult)
        else {"id": job.id, "ok": False, **failures.document(job.error)}
        for job in outcome.jobs
    ]
    return {
        "jobs": jobs,
        "report": outcome.report.name if outcome.report is not None else None,
        "written": not check,
        **(failures.document(outcome.report_error) if outcome.report_error is not None else {}),
    }
