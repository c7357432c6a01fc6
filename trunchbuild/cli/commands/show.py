"""`trunchbuild show RELEASE`: what a release is, or one of its cases."""

from __future__ import annotations

import click

from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import counted, on_one_line, plain, say, show_fields, show_json, show_table
from trunchbuild.cli.wiring import App
from trunchbuild.core.confinement import UNCONFINED
from trunchbuild.core.manifest import EvalEntry
from trunchbuild.errors import UsageError
from trunchbuild.flows.find_release import find_release
from trunchbuild.flows.prove import parse_case_id
from trunchbuild.flows.show import ReleaseSummary, case_ids, show_case, summarize


@click.command()
@click.argument("release", metavar="RELEASE")
@click.option("--case", "case", metavar="EVAL/ID", help="Show this case's public part.")
@click.option("--private", is_flag=True, help="With --case: also show how it is graded, its answer included.")
@click.option("--cases", is_flag=True, help="List the ids of all cases.")
@json_option
@click.pass_obj
def command(app: App, *, release: str, case: str | None, private: bool, cases: bool, as_json: bool) -> None:
    """Show a release, one of its cases, or the ids of all."""
    if private and case is None:
        raise UsageError("--private belongs to --case")
    if cases and case is not None:
        raise UsageError("--case shows one case and --cases lists all: give one of them")
    files = find_release(release, store=app.store, files=app.files).files
    if case is not None:
        value = show_case(files, parse_case_id(case), private=private)
        show_json(value) if as_json else say(plain({name: value[name] for name in value if name != "release"}))
    elif cases:
        ids = [str(one) for one in case_ids(files)]
        show_json({"release": str(files.digest), "cases": ids}) if as_json else say("\n".join(map(on_one_line, ids)))
    else:
        summary = summarize(files)
        show_json(summary.json()) if as_json else _show(summary)


def _show(summary: ReleaseSummary) -> None:
    facts, source = summary.manifest.benchmark, summary.manifest.source
    fields = [
        ("title", facts.title),
        ("version", facts.version),
        ("license", facts.license or "not stated"),
        ("release", str(summary.release)),
        ("shown", summary.shown),
        ("cases", str(summary.manifest.case_count)),
        ("cases-sha256", summary.cases_sha256 or "not known: the private part is withheld"),
        ("commit", source.commit),
        ("config", source.config),
    ]
    if summary.signature is not None:
        fields.insert(-1, ("signature", f"{summary.signature}, by the builder's word"))
    if summary.sandbox is not None:
        words = "none: the repository's code ran unconfined" if summary.sandbox == UNCONFINED else summary.sandbox
        fields.insert(-1, ("sandbox", f"{words}, by the builder's word"))
    if facts.description:
        fields.insert(1, ("description", facts.description))
    show_fields(fields)
    say("")
    show_table(
        ["eval", "cases", "made by", "evaluators", "title"],
        [
            [entry.id, str(entry.case_count), _made_by(entry), _evaluators(entry), entry.title]
            for entry in summary.manifest.evals
        ],
    )


def _made_by(entry: EvalEntry) -> str:
    if entry.transformer is not None:
        return f"{entry.transformer.path} of {counted(len(entry.transformer.sources), 'source')}"
    return entry.case_file.path if entry.case_file is not None else entry.module.path


def _evaluators(entry: EvalEntry) -> str:
    return ", ".join(f"{use.kind} ({use.module})" if use.module else use.kind for use in entry.evaluators)
