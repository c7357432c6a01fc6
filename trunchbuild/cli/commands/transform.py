"""`trunchbuild transform`."""

from __future__ import annotations

import posixpath

import click

from trunchbuild.cli.options import json_option, runs_code
from trunchbuild.cli.render import show_fields, show_json, waiting
from trunchbuild.cli.wiring import App
from trunchbuild.core.eval_module import MAX_SOURCES
from trunchbuild.core.receipt import ExportFormat
from trunchbuild.errors import UsageError
from trunchbuild.flows.transform_files import TransformRequest, TransformTools, exported, root_of, write_or_compare


@click.command("transform", short_help="Run one transformer on files of a folder and export its cases.")
@click.option("--transformer", required=True, metavar="PATH", help="The module: .ts .mts .js .mjs or .py.")
@click.option("--source", "sources", multiple=True, required=True, metavar="NAME=PATH", help="A source; 1 to 16.")
@click.option("-o", "--output", required=True, metavar="PATH", help="Where the cases go.")
@click.option("--format", "form", type=click.Choice(["jsonl", "json"]), default="jsonl", show_default=True)
@click.option("--no-receipt", is_flag=True, help="Write no OUTPUT.manifest.json.")
@click.option("--unchecked", is_flag=True, help="Write what the transformer returned, whether or not it is cases.")
@click.option("--check", is_flag=True, help="Write nothing; compare with what is on disk.")
@runs_code
@json_option
@click.pass_obj
def command(
    app: App,
    *,
    transformer: str,
    sources: tuple[str, ...],
    output: str,
    form: ExportFormat,
    no_receipt: bool,
    unchecked: bool,
    check: bool,
    as_json: bool,
) -> None:
    """Run one transformer on files of a folder, twice and confined, and export its cases with a receipt.

    Paths are relative to the current folder. Imports stay inside the repository: the nearest folder above the
    transformer that holds .git, else a benchmark config, else the current folder.
    """
    tools = TransformTools(app.files, app.folders, app.runtime, app.schemas)
    here = tools.files.current_folder()
    module = tools.files.resolve(here / transformer)
    request = TransformRequest(
        root=root_of(module, here, tools.files),
        base=here,
        transformer=module,
        sources={name: tools.files.resolve(here / path) for name, path in _named(sources)},
        output=tools.files.resolve(here / output),
        form=form,
        with_receipt=not no_receipt,
        checked=not unchecked,
    )
    with waiting("transforming"), exported(request, tools) as export:
        write_or_compare(export.files, tools.files, here, check=check)
    written = [posixpath.relpath(str(file.path), str(here)) for file in export.files]
    if as_json:
        show_json(
            {
                "transformer": export.name,
                "caseCount": export.case_count,
                "files": written,
                "written": not check,
            }
        )
        return
    show_fields(
        [
            ("transformer", export.name),
            ("cases", f"{export.case_count:,}"),
            ("as on disk" if check else "wrote", "\n".join(written)),
        ]
    )


def _named(sources: tuple[str, ...]) -> list[tuple[str, str]]:
    """`NAME=PATH`, each name once."""
    named: dict[str, str] = {}
    for written in sources:
        name, equals, path = written.partition("=")
        if not (name and equals and path):
            raise UsageError("not a source", place="--source", expected="NAME=PATH", got=written)
        if name in named:
            raise UsageError(f"source `{name}` is given twice", place="--source", got=f"{named[name]} and {path}")
        named[name] = path
    if len(named) > MAX_SOURCES:
        raise UsageError("too many sources", place="--source", expected=f"1 to {MAX_SOURCES}", got=str(len(named)))
    return list(named.items())
