"""`trunchbuild du`: what the store holds."""

from __future__ import annotations

import click

from trunchbuild.cli.options import json_option
from trunchbuild.cli.render import show_fields, show_json
from trunchbuild.cli.wiring import App


@click.command()
@json_option
@click.pass_obj
def command(app: App, as_json: bool) -> None:
    """Count the store's releases, objects and bytes, and how much of it `gc` would remove."""
    usage = app.store.usage()
    if as_json:
        show_json(
            {
                "releases": usage.releases,
                "objects": usage.objects,
                "bytes": usage.bytes,
                "looseFiles": usage.loose_objects,
                "looseBytes": usage.loose_bytes,
            }
        )
        return
    show_fields(
        [
            ("releases", str(usage.releases)),
            ("objects", f"{usage.objects} ({usage.bytes} bytes)"),
            ("loose", f"{usage.loose_objects} files ({usage.loose_bytes} bytes); `trunchbuild gc` removes them"),
        ]
    )
