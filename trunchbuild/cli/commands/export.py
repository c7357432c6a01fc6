"""`trunchbuild export RELEASE DIR`: write a release as plain files."""

from __future__ import annotations

from pathlib import Path

import click

from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import say, show_json
from trunchbuild.cli.wiring import App
from trunchbuild.flows.export import export_release
from trunchbuild.flows.find_release import find_release


@click.command()
@click.argument("release", metavar="RELEASE")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--without-private", is_flag=True, help="Withhold private.jsonl; everything else still verifies.")
@json_option
@click.pass_obj
def command(app: App, release: str, folder: Path, without_private: bool, as_json: bool) -> None:
    """Write every file of a release to a new folder."""
    files = find_release(release, store=app.store, files=app.files).files
    written = export_release(files, folder, store=app.store, user_files=app.files, without_private=without_private)
    if as_json:
        show_json({"release": str(files.digest), "files": [str(path) for path in written]})
    else:
        say(f"wrote {len(written)} files of {files.digest} to {folder}")
