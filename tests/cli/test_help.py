"""What a user is shown who asks how."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from tests.support.command import trunchbuild
from trunchbuild.cli.examples import EXAMPLES
from trunchbuild.cli.main import COMMANDS, main

LINES = [(name, line) for name, lines in EXAMPLES.items() for line in "\n".join(lines).replace("\\\n", "").splitlines()]


def test_without_arguments_the_commands_are_shown(tmp_path: Path) -> None:
    bare = trunchbuild(cwd=tmp_path, home=tmp_path)
    asked = trunchbuild("--help", cwd=tmp_path, home=tmp_path)
    assert (bare.code, bare.out, asked.code, asked.err) == (2, "", 0, "")
    assert bare.err.strip() == asked.out.strip()
    assert all(re.search(rf"^  {re.escape(name)} ", asked.out, re.MULTILINE) for name in COMMANDS)


@pytest.mark.parametrize(("name", "line"), LINES)
def test_each_example_is_a_command_line_that_is_understood(name: str, line: str) -> None:
    words = shlex.split(line)
    start = words.index("trunchbuild")
    assert words[start + 1] == name
    command = main.get_command(click.Context(main), name)
    assert command is not None
    command.make_context(name, words[start + 2 :], resilient_parsing=False)


def test_an_example_with_an_option_that_is_none_would_be_noticed() -> None:
    command = main.get_command(click.Context(main), "inspect")
    assert command is not None
    with pytest.raises(click.NoSuchOption):
        command.make_context("inspect", ["--stricter"])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_begins_with_a_capital_and_fits_a_screen(name: str, tmp_path: Path) -> None:
    shown = trunchbuild(name, "--help", cwd=tmp_path, home=tmp_path)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert re.match(r"  [A-Z]", lines[2]), lines[2]
    assert max(map(len, lines)) <= 100
    if name in EXAMPLES:
        assert "\n  Examples:\n" in shown.out
