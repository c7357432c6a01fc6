"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from trunchbuild.cli.render import warn
from trunchbuild.cli.wiring import App

Command = TypeVar("Command", bound=Callable[..., object])

_SIGNERS = (
    click.option(
        "--allowed-signers",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Whose ssh keys may sign commits; Git's gpg.ssh.allowedSignersFile otherwise.",
    ),
    click.option(
        "--gpg-home",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="A GnuPG folder whose keys may all sign commits; your own keyring otherwise.",
    ),
)


def signer_options(command: Command) -> Command:
    """Options that say whose signatures of a commit count."""
    for option in reversed(_SIGNERS):
        command = option(command)
    return command


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
