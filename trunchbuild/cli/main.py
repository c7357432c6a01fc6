"""The click group: finds commands when they are needed, turns errors into messages and exit codes. Only this exits."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

import trunchbuild
from trunchbuild.cli.examples import epilog
from trunchbuild.cli.render import note
from trunchbuild.cli.streams import open_standard_streams, refusal_of_output
from trunchbuild.errors import ExitCode

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

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
    "du": ("du", "Count what the store holds."),
    "gc": ("gc", "Remove what no release in the store needs."),
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
        command.epilog = epilog(cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown name, suggest the nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches  # noqa: PLC0415 - only for a misspelt command

            nearest = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
            raise click.UsageError(f"no such command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

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
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an internal error.")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Reproducible releases of LLM benchmarks: build, run, grade, verify.

    `trunchbuild COMMAND --help` shows each command's options and examples. Releases are kept in $TRUNCHBUILD_HOME, or
    in the platform's data folder.
    """
    from trunchbuild.cli.wiring import App  # noqa: PLC0415 - `--version` and `--help` do not need it

    ctx.obj = ctx.with_resource(App.from_environment())


def invoke(arguments: Sequence[str], group: click.Group = main) -> int:
    """Run one command line and return its exit code; every ending of a command passes here.

    With `--json` among the arguments an error is also one JSON document on standard output, so that a program always
    finds exactly one there: the answer or the error.
    """
    try:
        with group.make_context("trunchbuild", list(arguments)) as ctx:
            result = group.invoke(ctx)
        sys.stdout.flush()
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.exceptions.NoArgsIsHelpError as ending:
        note(ending.format_message())
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt, EOFError):
        return _interrupted()
    except Exception as error:
        return _failed(error, arguments)
    return result if isinstance(result, int) else ExitCode.YES


def _interrupted() -> ExitCode:
    note("interrupted; everything counted is on disk")
    return ExitCode.INTERRUPTED


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    """Tell the user what went wrong; the exit code that says it."""
    from trunchbuild.cli import failures  # noqa: PLC0415 - only where something failed

    refused = refusal_of_output()
    if isinstance(refused, BrokenPipeError):
        # The reader went away (`trunchbuild show ... | head`): no one is left to be told.
        return ExitCode.MACHINE
    known = failures.explain(error, debug="--debug" in arguments) if refused is None else failures.unprinted(refused)
    failures.show(known, as_json="--json" in arguments)
    return known.exit_code


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def run(group: click.Group = main) -> NoReturn:
    """Run the command line of this process, and end it."""
    open_standard_streams()
    # Commands import hundreds of modules and then stream: the cycle collector would look often and find little.
    gc.set_threshold(50_000, 20, 20)
    # A polite request to end, or a closed terminal, must remove throwaway clones and child processes, as Ctrl-C does;
    # what the caller had us ignore (`nohup`) stays ignored.
    signals = [number for number in ENDING_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in signals:
        signal.signal(number, _interrupt)
    try:
        code = invoke(sys.argv[1:], group)
    except KeyboardInterrupt:
        # A second one, while the first ending was being told.
        code = _interrupted()
    finally:
        for number in signals:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(code)
