"""How a command may end, and what the user then reads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from tests.support.command import python, trunchbuild
from trunchbuild.cli.commands.verify import show_report
from trunchbuild.cli.main import COMMANDS, LazyGroup, invoke
from trunchbuild.cli.render import show_json, warn
from trunchbuild.core.checks import CheckReport, CheckResult
from trunchbuild.errors import BadInputError, CheckedNoError, Fault, MachineError

FAULTS = [Fault(f"evals/{'ab'[n % 2]}.ts:{n}:1", "wrong", "one", "two", "look here") for n in range(1, 61)]


def ends_with(action: object) -> click.Group:
    """A group whose command `act` ends in a given way."""

    @click.group()
    @click.option("--debug", is_flag=True)
    def group(debug: bool) -> None: ...

    @group.command()
    @click.option("--json", "as_json", is_flag=True)
    def act(as_json: bool) -> object:
        if isinstance(action, BaseException):
            raise action
        return action

    return group


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRUNCHBUILD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.parametrize(
    ("action", "code", "message"),
    [
        (None, 0, ""),
        (1, 1, ""),
        (CheckedNoError("differs", expected="a", got="b"), 1, "error: differs: expected a, got b"),
        (BadInputError("bad", place="x.json:1:2"), 3, "error: x.json:1:2: bad"),
        (MachineError("no sandbox"), 4, "error: no sandbox"),
        (click.UsageError("No such thing"), 2, "error: no such thing"),
        (OSError(28, "No space left on device", "/x/y"), 4, "error: /x/y: no space left on device"),
        (MemoryError(), 4, "error: out of memory"),
        (KeyboardInterrupt(), 130, "interrupted; everything counted is on disk"),
        (click.Abort(), 130, "interrupted; everything counted is on disk"),
        (ExceptionGroup("tasks", [ValueError("x"), BadInputError("bad", place="y")]), 3, "error: y: bad"),
        (ZeroDivisionError("division by zero"), 4, "error: internal error: ZeroDivisionError: division by zero"),
        (RecursionError("too deep"), 4, "error: internal error: RecursionError: too deep"),
        (KeyError("lost"), 4, "error: internal error: KeyError: 'lost'"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value)[:20],
)
def test_each_ending_has_its_code_and_words(
    action: object, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["act"], ends_with(action)) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.split("\n")[0] == message
    assert "Traceback" not in shown.err


def test_details_of_an_internal_error_are_in_a_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["act"], ends_with(ZeroDivisionError("division by zero")))
    assert str(home / "internal-error.txt") in capsys.readouterr().err
    details = (home / "internal-error.txt").read_text()
    assert details.startswith("Traceback")
    assert details.endswith("ZeroDivisionError: division by zero\n")


def test_debug_shows_the_traceback_instead(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["--debug", "act"], ends_with(ZeroDivisionError("division by zero")))
    assert "Traceback" in capsys.readouterr().err
    assert not home.exists()


def test_a_home_that_cannot_be_written_hides_no_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.write_text("a file where the folder should be")
    assert invoke(["act"], ends_with(ZeroDivisionError("x"))) == 4
    assert "--debug" in capsys.readouterr().err


def test_details_hold_no_secret(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-71-long")
    invoke(["act"], ends_with(ValueError("refused: sk-canary-71-long")))
    assert "canary" not in (home / "internal-error.txt").read_text() + capsys.readouterr().err


def test_faults_are_grouped_by_file_and_capped(capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["act"], ends_with(BadInputError("60 faults", faults=FAULTS)))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "error: 60 faults"
    assert lines[1] == "  evals/b.ts: 30 faults"
    assert lines[2] == "    evals/b.ts:1:1: wrong: expected one, got two"
    assert lines[32] == "  evals/a.ts: 30 faults"
    assert [line for line in lines if "more" in line] == ["  and 10 more; --json lists all"]
    assert sum("expected one" in line for line in lines) == 50
    assert lines[-2:] == ["", "hint: look here"]


def test_json_gives_one_document_with_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["act", "--json"], ends_with(BadInputError("60 faults", faults=FAULTS))) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["slug"], error["exitCode"], error["message"], len(error["faults"])) == (
        "bad-input",
        3,
        "60 faults",
        60,
    )
    assert error["faults"][0] == {
        "place": "evals/b.ts:1:1", "message": "wrong", "expected": "one", "got": "two", "hint": "look here"
    }  # fmt: skip


def test_text_of_strangers_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["act"], ends_with(BadInputError("bad", place="x", got="\x1b[2J\u202e\r\nerror: forged")))
    shown = capsys.readouterr().err
    assert shown == "error: x: bad: got \\x1b[2J\\u202e\\r\\nerror: forged\n"


@pytest.mark.parametrize("odd", ["\x1b[2J", "\x9b2J", "\x7f", "\u2028", "\u202e", "\u200b", "\udcff"])
def test_json_on_a_screen_cannot_steer_it_either(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    """C1 controls are escape sequences to a terminal and plain characters to most writers of JSON."""
    show_json({f"a{odd}": [f"Grüße 日本 😀 e\u0301{odd}"]})
    out = capsys.readouterr().out
    assert odd not in out
    assert "Grüße 日本 😀 e\u0301" in out
    read = "\ufffd" if odd == "\udcff" else odd
    assert json.loads(out) == {f"a{read}": [f"Grüße 日本 😀 e\u0301{read}"]}
    assert json.loads(out.encode("utf-8", "strict")) == json.loads(out)


def test_line_breaks_of_strangers_forge_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    odd = "x\nyes: every check that was made agrees"
    fault = Fault(odd, odd, odd, odd, odd)
    report = CheckReport(odd, None, (CheckResult(1, "name", "no", odd, odd, odd, (fault, fault)),), notes=(odd,))
    show_report(report)
    invoke(["act"], ends_with(BadInputError(odd, faults=[fault, fault], hint=odd)))
    warn(odd)
    shown = capsys.readouterr()
    assert [line for line in (shown.out + shown.err).splitlines() if line.startswith("yes")] == []
    assert shown.out.splitlines()[-1] == "NO: it does not verify"


def test_a_huge_value_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["act"], ends_with(BadInputError("bad", got="x" * 5_000_000)))
    assert len(capsys.readouterr().err) < 1100


def test_unknown_command_suggests_the_nearest(tmp_path: Path) -> None:
    outcome = trunchbuild("inspct", cwd=tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: no such command 'inspct' (did you mean 'inspect'?)\n")
    assert "did you mean" not in trunchbuild("zzz", cwd=tmp_path).err


def test_version_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from trunchbuild.cli.main import invoke; code = invoke(['--version']);"
        "print(code, [m for m in ('rich', 'httpx', 'aiohttp', 'dulwich', 'jsonschema', 'esprima', 'platformdirs')"
        " if m in sys.modules])"
    )
    outcome = python(["-c", code], cwd=tmp_path)
    assert outcome.out.splitlines()[1] == "0 []"
    assert outcome.out.startswith("trunchbuild 0.")


def test_help_lists_every_command_without_importing_one(tmp_path: Path) -> None:
    outcome = trunchbuild("--help", cwd=tmp_path)
    assert outcome.code == 0
    assert all(f"  {name} " in outcome.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_is_there_and_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: trunchbuild {name}")


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    script = (
        "import click, sys\nfrom trunchbuild.cli import main, streams\nstreams.open_standard_streams()\n"
        "@click.group()\ndef group(): ...\n"
        "@group.command()\ndef act():\n  for n in range(200000): click.echo('line %d' % n)\n"
        "code = main.invoke(['act'], group)\nsys.exit(code)\n"
    )
    (tmp_path / "script.py").write_text(script)
    command = f"{sys.executable} script.py 2>err.txt | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert done.stdout == b"line 0\n"
    assert (tmp_path / "err.txt").read_bytes() == b""


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_closed_streams_are_no_error(tmp_path: Path, stream: int) -> None:
    command = f"{sys.executable} -m trunchbuild --version {stream}>&-; echo code $? >code.txt"
    subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=False, timeout=60)
    assert (tmp_path / "code.txt").read_text() == "code 0\n"


def test_a_request_to_end_cleans_up_like_an_interrupt(tmp_path: Path) -> None:
    script = (
        "import time, pathlib\nfrom trunchbuild.cli import main\n"
        "def waits(arguments, group):\n"
        "  try:\n    pathlib.Path('ready').touch()\n    time.sleep(60)\n"
        "  except KeyboardInterrupt:\n    pathlib.Path('cleaned').touch()\n    return 130\n"
        "main.invoke = waits\nmain.run()\n"
    )
    (tmp_path / "script.py").write_text(script)
    process = subprocess.Popen([sys.executable, "script.py"], cwd=tmp_path)
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    assert process.wait(timeout=30) == 130
    assert (tmp_path / "cleaned").exists()


def test_a_command_module_without_a_command_is_no_command() -> None:
    assert LazyGroup(name="x").get_command(click.Context(click.Command("x")), "nothing") is None
