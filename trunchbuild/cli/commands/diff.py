"""`trunchbuild diff A B`: compare two releases case by case."""

from __future__ import annotations

import click

from trunchbuild.cli.commands.compile import show_difference
from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import say, show_json
from trunchbuild.cli.wiring import App
from trunchbuild.errors import ExitCode
from trunchbuild.flows.diff import diff_releases
from trunchbuild.flows.find_release import find_release
from trunchbuild.flows.show import summarize


@click.command()
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@json_option
@click.pass_obj
def command(app: App, old: str, new: str, as_json: bool) -> int:
    """Compare two releases: cases added, removed, changed (with the fields), and the manifest's values.

    Exits 1 where they differ.
    """
    before = find_release(old, store=app.store, files=app.files).files
    after = find_release(new, store=app.store, files=app.files).files
    difference = diff_releases(before, after)
    sides = [(files, summarize(files).cases_sha256) for files in (before, after)]
    if as_json:
        names = [{"release": str(files.digest), "casesSha256": cases} for files, cases in sides]
        show_json({"old": names[0], "new": names[1], **difference.json()})
    else:
        show_difference(difference)
        (_, one), (_, other) = sides
        say(f"cases-sha256 {one or 'not known'}" + ("" if one == other else f" -> {other or 'not known'}"))
    return ExitCode.YES if difference.same else ExitCode.NO
