"""`trunchbuild grade RUN`: grade recorded replies again, offline; or replies that were made elsewhere."""

from __future__ import annotations

import platform
from pathlib import Path

import click

import trunchbuild
from trunchbuild.cli.options import json_option, runs_code
from trunchbuild.cli.render import note, show_json, waiting
from trunchbuild.cli.run_options import Number, Text
from trunchbuild.cli.run_summary import show_summary
from trunchbuild.cli.wiring import App
from trunchbuild.core.summary import DEFAULT_MIN_COVERAGE, Summary
from trunchbuild.errors import UsageError
from trunchbuild.flows.find_release import find_release
from trunchbuild.flows.grade import GradeDoors, grade_run
from trunchbuild.flows.import_replies import ImportOrder, import_replies
from trunchbuild.flows.run_folder import is_run_folder, read_run_file


@click.command()
@click.argument("subject", metavar="RUN|RELEASE")
@click.option("--release", metavar="RELEASE", help="For a run: its release, where the store does not hold it.")
@click.option(
    "--replies", metavar="FILE", type=click.Path(path_type=Path), help="For a release: replies made elsewhere."
)
@click.option("--eval", "evals", metavar="ID", multiple=True, help="For a release: the replies are for this eval.")
@click.option("--model", type=Text(), metavar="NAME", help="For a release: what made the replies.")
@click.option("--label", type=Text(), metavar="NAME", help="For a release: where the replies were made.")
@click.option(
    "-o", "--out", "folder", metavar="DIR", type=click.Path(path_type=Path), help="For a release: the new run's folder."
)
@click.option("--min-coverage", type=Number(0, 1), metavar="SHARE", help="[default: the run's own, or 0.8]")
@json_option
@runs_code
@click.pass_obj
def command(
    app: App,
    *,
    subject: str,
    release: str | None,
    replies: Path | None,
    evals: tuple[str, ...],
    model: str | None,
    label: str | None,
    folder: Path | None,
    min_coverage: float | None,
    as_json: bool,
) -> int:
    """Grade the recorded replies of a RUN again, offline, or replies to a RELEASE that were made elsewhere.

    Replies made elsewhere are lines of {"id", "response", "finish_reason"?, "eval"?, "repeat"?}. They become a run
    like any other, marked as imported; a case without a reply is a failed call.
    """
    doors = GradeDoors(app.files, app.journals, lambda: app.runtime)
    run = Path(subject)
    if is_run_folder(run, app.files):
        if replies is not None or evals or model or label or folder is not None:
            raise UsageError("that is a run: `--replies`, `--eval`, `--model`, `--label` and `-o` belong to a release")
        run_file = read_run_file(run, app.files)
        named = release or str(run_file.spec.release)
        files = find_release(named, store=app.store, files=app.files).files
        with waiting("grading"):
            summary = grade_run(run, run_file, files, doors, min_coverage=min_coverage)
        return _show(summary, run, as_json=as_json)
    if release is not None:
        raise UsageError("`--release` belongs to a run; this names a release, or nothing", got=f"`{subject}`")
    files = find_release(subject, store=app.store, files=app.files).files
    if replies is None or folder is None:
        raise UsageError("which replies, and where to?", expected="`--replies FILE.jsonl -o DIR` beside a release")
    order = ImportOrder(
        replies=replies,
        folder=folder,
        evals=evals,
        model=model,
        label=label,
        min_coverage=DEFAULT_MIN_COVERAGE if min_coverage is None else min_coverage,
        record={
            "began": f"{app.clock.now():%Y-%m-%dT%H:%M:%SZ}",
            "trunchbuild": trunchbuild.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "min_coverage": DEFAULT_MIN_COVERAGE if min_coverage is None else min_coverage,
        },
    )
    with waiting("grading"):
        summary = import_replies(files, order, doors)
    return _show(summary, folder, as_json=as_json)


def _show(summary: Summary, folder: Path, *, as_json: bool) -> int:
    note(f"graded {len(summary.rows)} trials; everything is in {folder}")
    if as_json:
        show_json({**summary.json(), "folder": str(folder)})
    else:
        show_summary(summary, folder)
    return summary.exit_code
