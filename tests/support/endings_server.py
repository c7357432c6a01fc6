"""Whole commands in processes that are made at once: `python -m tests.support.endings_server`.

It reads a line `{"arguments", "folder", "out", "err"}`, forks, and answers `{"pid"}`. The child stands in `folder`, its
streams go to the files `out` and `err`; it waits until a second line lets it go, then runs the command line as
`trunchbuild` does, or, where the arguments are `act NAME`, an operation of `tests.support.operations` as if it were a
command. The second answer is `{"code", "signal"}`.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from tests.support import operations
from trunchbuild.cli import failures, main
from trunchbuild.cli.commands import du, export, gc, import_, prove, show, verify
from trunchbuild.cli.commands import list as list_command

IMPORTED = (failures, du, export, gc, import_, prove, show, verify, list_command)
"""A child that imported them itself would make calls that have nothing to do with the command."""
UNFORESEEN = 99
_PR_SET_PTRACER, _ANY = 0x59616D61, -1


def may_be_traced() -> None:
    """Where only a parent may trace, anyone of the same user may trace this process."""
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_long(_ANY), 0, 0, 0)


def opened(name: str) -> int:
    """A file for output; `|` is a pipe whose reader went away."""
    if name != "|":
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@click.group()
@click.option("--debug", is_flag=True)
def operation(debug: bool) -> None:
    """Operations in the place of commands."""


@operation.command()
@click.argument("name")
def act(name: str) -> None:
    """Run one in the current folder."""
    operations.OPERATIONS[name](Path.cwd())


def child(order: dict[str, Any], gate: socket.socket) -> NoReturn:
    """Run one command, and end as the interpreter would end."""
    code = UNFORESEEN
    try:
        may_be_traced()
        os.chdir(order["folder"])
        os.environ["TRUNCHBUILD_HOME"] = str(Path(order["folder"]) / "home")
        # As in a fresh interpreter, whatever started this one.
        for number in main.ENDING_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor, name in ((1, order["out"]), (2, order["err"])):
            os.dup2(opened(name), descriptor)
        # As the interpreter makes it: the one that was inherited takes the descriptor for what it was.
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - a descriptor, to the end
        sys.argv = ["trunchbuild", *order["arguments"]]
        # A call that is never made to fail: what a tracer counts begins after it.
        gate.recv(1)
        main.run(operation if order["arguments"][0] == "act" else main.main)
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else UNFORESEEN
        try:
            sys.stdout.flush()
        except OSError:
            code = 120
    finally:
        os._exit(code)


def serve() -> None:
    """Answer orders until standard input ends."""
    may_be_traced()
    assert IMPORTED
    for line in sys.stdin:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = os.fork()
            if process == 0:
                child(json.loads(line), theirs)
            print(json.dumps({"pid": process}), flush=True)
            assert sys.stdin.readline() == "go\n"
            ours.send(b"g")
            _, status = os.waitpid(process, 0)
        signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
        print(json.dumps({"code": code, "signal": signalled}), flush=True)


if __name__ == "__main__":
    serve()
