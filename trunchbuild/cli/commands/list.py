"""`trunchbuild list`: the releases in the store."""

from __future__ import annotations

import click

from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import note, show_json, show_table, warn
from trunchbuild.cli.wiring import App
from trunchbuild.core.release import release_name
from trunchbuild.flows.show import list_releases


@click.command()
@json_option
@click.pass_obj
def command(app: App, as_json: bool) -> None:
    """List the releases in the store, by name and version."""
    summaries, damaged = list_releases(app.store)
    if as_json:
        show_json(
            {
                "releases": [
                    {
                        "release": str(one.release),
                        "shown": one.shown,
                        "name": release_name(one.manifest),
                        "version": one.manifest.benchmark.version,
                        "cases": one.manifest.case_count,
                        "private": one.private,
                    }
                    for one in summaries
                ],
                "damaged": [str(release) for release in damaged],
            }
        )
        return
    for release in damaged:
        warn(f"{release} is damaged; `trunchbuild verify {release.short}` says how")
    if not summaries:
        note("the store is empty: `trunchbuild compile REPO@REV` makes a release")
        return
    rows = [
        [
            release_name(one.manifest),
            one.manifest.benchmark.version,
            str(one.manifest.case_count),
            str(one.release),
            "whole" if one.private else "private part withheld",
        ]
        for one in summaries
    ]
    show_table(["name", "version", "cases", "release", "content"], rows)
