"""The click group: finds commands when they are needed, turns errors into messages and exit codes. Only this exits."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

import trunchbuild
from trunchbuild.errors import ExitCode, TrunchbuildError

# name -> (module under trunchbuild.cli.commands, short help). A module is imported only when its command runs.
COMMANDS: dict[str, tuple[str, str]] = {
    "inspect": ("inspect", "Show what would be compiled, with lint; write nothing."),
    "transform": ("transform", "Run one transformer on files of a folder and export its cases."),
    "transform-batch": ("transform_batch", "Run every transformer of a batch manifest."),
    "compile": ("compile", "Build a release from a commit and lock it."),
    "list": ("list", "List the releases in the store."),
    "show": ("show", "Show a release, or one of its cases."),
    "diff": ("diff", "Compare two releases case by case."),
    "export": ("export", "Write a release as a folder of plain files."),
    "import": ("import_", "Check a release folder and add it to the store."),
    "prove": ("prove", "Write a proof that one case belongs to a release."),
    "verify": ("verify", "Check a release, lockfile, folder, run or proof."),
    "eval": ("eval", "Run a model against a release."),
    "grade": ("grade", "Grade recorded replies again, offline."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands in the order of a user's work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command; its module names it `command`."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"trunchbuild.cli.commands.{COMMANDS[cmd_name][0]}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"trunchbuild {trunchbuild.__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Reproducible releases of LLM benchmarks: build, run, grade, verify."""
    from trunchbuild.cli.wiring import App  # noqa: PLC0415 - `--version` and `--help` do not need it

    ctx.obj = ctx.with_resource(App.from_environment())


def invoke(arguments: Sequence[str]) -> int:  # noqa: PLR0911 - one return per way to end
    """Run one command line and return its exit code; every ending of a command passes here."""
    try:
        result = main.main(args=list(arguments), prog_name="trunchbuild", standalone_mode=False)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.Abort:
        click.echo("interrupted; everything counted is on disk", err=True)
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except TrunchbuildError as error:
        from trunchbuild.cli.render import show_error  # noqa: PLC0415 - only where something failed

        show_error(error)
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return ExitCode.MACHINE
    except (OSError, MemoryError, RecursionError) as error:
        from trunchbuild.cli.render import show_unexpected  # noqa: PLC0415

        show_unexpected(error)
        return ExitCode.MACHINE
    return result if isinstance(result, int) else ExitCode.YES


def run() -> None:
    """Entry point of the command `trunchbuild`."""
    sys.exit(invoke(sys.argv[1:]))
