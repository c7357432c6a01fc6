"""`trunchbuild transform-batch`: every job of a manifest, each on its own, and one report when all passed."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trunchbuild.core.batch import REPORT_ENDING, BatchJob, InvalidBatchError, JobResult, parse_batch, report_bytes
from trunchbuild.core.strict_json import read_json
from trunchbuild.effects.files.api import Files, NewFile
from trunchbuild.errors import ExitCode, Fault, TrunchbuildError
from trunchbuild.flows.transform_files import (
    Expectations,
    TransformRequest,
    TransformTools,
    exported,
    write_or_compare,
)


@dataclass(frozen=True, slots=True)
class JobFailure:
    """Why one job left nothing behind."""

    id: str
    error: TrunchbuildError


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """How every job ended, in job order."""

    jobs: tuple[JobResult | JobFailure, ...]
    report: Path | None
    """None where a job failed: then no report was written."""
    report_error: TrunchbuildError | None = None
    """With `--check`, all jobs are as on disk and the report is not."""

    @property
    def exit_code(self) -> ExitCode:
        """That of the first failing job in job order; 0 if none failed."""
        failed = [job.error for job in self.jobs if isinstance(job, JobFailure)]
        if self.report_error is not None:
            failed.append(self.report_error)
        return failed[0].exit_code if failed else ExitCode.YES


JobEnded = Callable[[JobResult | JobFailure], None]
"""Told of each job as it ends, in any order."""


def transform_batch(
    manifest: Path, tools: TransformTools, *, parallel: int, check: bool, job_ended: JobEnded
) -> BatchOutcome:
    """Run the jobs of a manifest, `parallel` at a time; with `check` write nothing and compare with what is on disk.

    A job that fails leaves nothing behind and does not stop the others.

    Raises:
        BadInputError: The manifest cannot be read, does not follow its format, or names paths outside its repository.
    """
    shown = manifest.name
    jobs = parse_batch(read_json(tools.files.read(manifest), shown), shown)
    requests = _requests(jobs, manifest, tools.files)
    run = partial(_run_job, tools=tools, base=manifest.parent, check=check, job_ended=job_ended)
    with ThreadPoolExecutor(max_workers=max(1, min(parallel, len(jobs)))) as workers:
        try:
            ended = tuple(workers.map(run, jobs, requests))
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise
    results = [job for job in ended if isinstance(job, JobResult)]
    if len(results) < len(ended):
        return BatchOutcome(ended, None)
    report = manifest.with_name(manifest.name + REPORT_ENDING)
    try:
        new_report = NewFile(report, [report_bytes(manifest.name, results)])
        write_or_compare([new_report], tools.files, manifest.parent, check=check)
    except TrunchbuildError as error:
        return BatchOutcome(ended, None, error)
    return BatchOutcome(ended, report)


def _run_job(
    job: BatchJob, request: TransformRequest, *, tools: TransformTools, base: Path, check: bool, job_ended: JobEnded
) -> JobResult | JobFailure:
    ended: JobResult | JobFailure
    try:
        with exported(request, tools) as export:
            write_or_compare(export.files, tools.files, base, check=check)
        ended = JobResult(job.id, export.name, export.case_count, job.output, job.receipt)
    except TrunchbuildError as error:
        ended = JobFailure(job.id, error)
    job_ended(ended)
    return ended


def _requests(jobs: tuple[BatchJob, ...], manifest: Path, files: Files) -> list[TransformRequest]:
    """The jobs with absolute paths.

    Raises:
        InvalidBatchError: A path leaves the repository: a manifest may be a stranger's, and must not write elsewhere.
    """
    base = manifest.parent
    border = files.repository_root(base) or base
    faults: list[Fault] = []
    requests: list[TransformRequest] = []
    for index, job in enumerate(jobs):
        written = {"transformer": job.transformer, "output": job.output}
        written |= {f"sources/{name}": path for name, path in job.sources.items()}
        paths = {member: Path(posixpath.normpath(base / path)) for member, path in written.items()}
        faults += [
            Fault(
                f"{manifest.name} /jobs/{index}/{member}",
                "leaves the repository",
                f"a path in {border.name or border}/",
                f"`{written[member]}`",
            )
            for member, path in paths.items()
            if not path.is_relative_to(border)
            or (member == "output" and not files.resolve(path).is_relative_to(border))
        ]
        requests.append(
            TransformRequest(
                root=border,
                base=base,
                transformer=paths["transformer"],
                sources={name: paths[f"sources/{name}"] for name in job.sources},
                output=paths["output"],
                form=job.format,
                expected=Expectations(job.expected_case_count, job.expected_source_sha256),
            )
        )
    if faults:
        raise InvalidBatchError(f"{manifest.name} names paths outside its repository", faults=faults)
    return requests
