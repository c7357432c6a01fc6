"""`trunchbuild gc`: remove what no release in the store needs."""

from __future__ import annotations

import click

from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import say, show_json
from trunchbuild.cli.wiring import App
from trunchbuild.flows.find_release import named_digest


@click.command()
@click.option("--remove", multiple=True, metavar="RELEASE", help="Forget this release first; may be repeated.")
@json_option
@click.pass_obj
def command(app: App, remove: tuple[str, ...], as_json: bool) -> None:
    """Remove objects that no release needs, and what interrupted commands left behind."""
    releases = [named_digest(text, store=app.store, files=app.files) for text in remove]
    before = app.store.collect(releases)
    if as_json:
        show_json(
            {
                "removedReleases": [str(release) for release in releases],
                "removedFiles": before.loose_objects,
                "removedBytes": before.loose_bytes,
            }
        )
        return
    for release in releases:
        say(f"forgot {release}")
    say(f"removed {before.loose_objects} files, {before.loose_bytes} bytes")
