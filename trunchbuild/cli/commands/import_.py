"""`trunchbuild import FOLDER`: check a release folder and add it to the store."""

from __future__ import annotations

from pathlib import Path

import click

from trunchbuild.cli.commands.verify import show_report
from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import say, show_json, waiting
from trunchbuild.cli.wiring import App
from trunchbuild.core.ids import Digest
from trunchbuild.errors import UsageError
from trunchbuild.flows.import_ import import_folder


@click.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--digest", metavar="sha256:HEX", help="The digest that the release must have.")
@json_option
@click.pass_obj
def command(app: App, folder: Path, digest: str | None, as_json: bool) -> int:
    """Check a release folder and add it to the store; a folder that fails a check is not added."""
    if not app.files.is_folder(folder):
        raise UsageError("not a folder", place=str(folder))
    with waiting("checking"):
        report = import_folder(folder, None if digest is None else Digest.parse(digest), store=app.store)
    added = report.outcome == "yes"
    if as_json:
        show_json({"added": added, **report.json()})
    else:
        show_report(report)
        say(f"added {report.digest}" if added else "not added")
    return report.exit_code
