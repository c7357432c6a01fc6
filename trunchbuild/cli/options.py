"""Options that several commands share."""

from __future__ import annotations

import click

from trunchbuild.cli.render import warn
from trunchbuild.cli.wiring import App

json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer (or the error) as JSON.")


def _no_sandbox(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        app = ctx.find_object(App)
        if app is not None:
            app.unsafe_no_sandbox = True
            warn("the repository's code runs unconfined, with all the rights of your user")


# For every command that runs a repository's code.
runs_code = click.option(
    "--unsafe-no-sandbox",
    is_flag=True,
    expose_value=False,
    callback=_no_sandbox,
    help="Run the repository's code without confinement. Only for code that you would run anyway.",
)
