"""`eval`, `grade` and `verify RUN` as a user runs them, against a scripted endpoint on loopback."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.servers.model_endpoint import Asked, ModelEndpoint, Served, fails, says
from tests.support.command import Outcome, trunchbuild
from tests.support.releases import add_release, benchmark
from tests.support.runs import CANARY, jsonl, sums
from trunchbuild.effects.store._disk import DiskStore

KEY, TEAM = "sk-canary-71", "canary-72-of-the-team"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose store holds `small@1.0.0` (8 sums), `large` (40) and `two` (2 evals)."""
    folder = tmp_path_factory.mktemp("home")
    store = DiskStore(folder / "store")
    add_release(store, benchmark(sums(8), title="Small"))
    add_release(store, benchmark(sums(40), title="Large"))
    add_release(store, benchmark(sums(3, "first"), sums(4, "second"), title="Two"))
    return folder


class Bed:
    """Runs commands in one folder with one home."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder

    def __call__(self, *arguments: str | Path, **environment: str) -> Outcome:
        clean = {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": "", "XDG_CONFIG_HOME": str(self.folder / "none")}
        return trunchbuild(*arguments, cwd=self.folder, home=self.home, environment={**clean, **environment})

    def eval(self, release: str, endpoint: ModelEndpoint, *arguments: str, **environment: str) -> Outcome:
        base = ("--model", "m", "--base-url", endpoint.base_url, "--label", "test")
        return self("eval", release, *base, *arguments, **environment)

    @property
    def run(self) -> Path:
        """The only run."""
        (found,) = (self.folder / "runs").glob("*/*/*/*")
        return found


@pytest.fixture
def bed(home: Path, tmp_path: Path) -> Bed:
    return Bed(home, tmp_path)


def right(asked: Asked) -> Served:
    return says(str(int(asked.prompt.split()[0]) + 1))


def test_run_grade_verify(bed: Bed) -> None:
    """The whole way: 8 sums, all right; grade and verify agree on the digest."""
    with ModelEndpoint(right) as endpoint:
        outcome = bed.eval("small@1.0.0", endpoint, "--json")
    assert outcome.code == 0
    answer = json.loads(outcome.out)
    assert answer["figures"]["accuracy"]["value"] == 1
    assert answer["figures"]["passed"] == 8
    assert answer["asked"] == 8
    digest = answer["results_digest"]
    (bed.run / "results.jsonl").unlink()
    graded = bed("grade", bed.run, "--json")
    assert graded.code == 0
    assert json.loads(graded.out)["results_digest"] == digest
    verified = bed("verify", bed.run, "--digest", digest)
    assert verified.code == 0
    assert "yes: every check" in verified.out
    assert bed("verify", bed.run, "--digest", "sha256:" + "ab" * 32).code == 1


def test_output_for_people(bed: Bed) -> None:
    """Figures together on stdout, one line on stderr, no bar where there is no terminal."""
    with ModelEndpoint(lambda asked: right(asked) if asked.prompt.startswith(("0", "1")) else says("no")) as endpoint:
        outcome = bed.eval("small@1.0.0", endpoint)
    assert outcome.code == 0
    for words in ("accuracy      0.2500 [", "= 2 of 8 scored", "coverage      1.0000 [", "mean score    0.2500 ["):
        assert words in outcome.out
    assert outcome.err.count("\n") == 1


def test_every_figure_by_eval(bed: Bed) -> None:
    with ModelEndpoint(right) as endpoint:
        outcome = bed.eval("two@1.0.0", endpoint, "--limit", "2", "--json")
    answer = json.loads(outcome.out)
    assert {name: figures["all"] for name, figures in answer["evals"].items()} == {"first": 2, "second": 2}
    assert answer["partial"] is True
    assert len(endpoint.asked) == 4


def test_subsets(bed: Bed) -> None:
    (bed.folder / "list.txt").write_text("second/q3\nfirst/q0\n")
    with ModelEndpoint(right) as endpoint:
        listed = bed.eval("two@1.0.0", endpoint, "--cases", "list.txt", "--json")
        one = bed.eval("two@1.0.0", endpoint, "--eval", "second", "--json")
    assert [row["id"] for row in jsonl(Path(bed.folder, json.loads(listed.out)["folder"]) / "results.jsonl")] == [
        "q0",
        "q3",
    ]
    assert json.loads(one.out)["figures"]["all"] == 4
    (bed.folder / "list.txt").write_text("second/q9\n")
    wrong = bed.eval("two@1.0.0", endpoint, "--cases", "list.txt")
    assert wrong.code == 3
    assert "list.txt:1" in wrong.err


def test_400_to_everything(bed: Bed) -> None:
    """No score is written, exit 4; what the endpoint said is shown once, with its count."""
    with ModelEndpoint(lambda _: fails(400, {"message": "bad request"})) as endpoint:
        outcome = bed.eval("small@1.0.0", endpoint)
    assert outcome.code == 4
    assert "accuracy" not in outcome.out
    assert re.findall(r"^because +(.*)$", outcome.out, re.MULTILINE) == ["8 failed: HTTP 400: bad request"]
    summary = json.loads((bed.run / "summary.json").read_text())
    assert summary["figures"]["accuracy"]["value"] is None
    assert summary["figures"]["statuses"]["failed"] == 8


def test_below_coverage_then_resumed(bed: Bed) -> None:
    """3 of 8 fail with 503: exit 1 and no score; the same command makes 3 calls (R79) and exits 0."""
    down = True

    def script(asked: Asked) -> Served:
        return fails(503, Retry_After="0") if down and int(asked.prompt.split()[0]) < 3 else right(asked)

    with ModelEndpoint(script) as endpoint:
        short = bed.eval("small@1.0.0", endpoint)
        assert short.code == 1
        assert "no score" in short.out
        down = False
        before = len(endpoint.asked)
        whole = bed.eval("small@1.0.0", endpoint, "--json")
        assert len(endpoint.asked) - before == 3
    assert whole.code == 0
    assert json.loads(whole.out)["figures"]["all"] == 8


def test_a_refused_parameter(bed: Bed) -> None:
    """R63: stops at once with the option that fixes it; that option works, and is in the recorded spec."""

    def script(asked: Asked) -> Served:
        if "max_tokens" in asked.body:
            return fails(400, {"code": "unsupported_parameter", "param": "max_tokens"})
        return right(asked)

    with ModelEndpoint(script) as endpoint:
        refused = bed.eval("large@1.0.0", endpoint, "--concurrency", "2")
        assert refused.code == 4
        assert "--limit-field max_completion_tokens" in refused.err
        assert len(endpoint.asked) <= 2
        assert bed.eval("large@1.0.0", endpoint, "--limit-field", "max_completion_tokens").code == 0
    assert endpoint.asked[-1].body["max_completion_tokens"] == 32768


def test_come_back_later(bed: Bed) -> None:
    """R62: a Retry-After of a day stops the run at once, resumable."""
    with ModelEndpoint(lambda _: fails(429, Retry_After="86400")) as endpoint:
        outcome = bed.eval("small@1.0.0", endpoint)
    assert outcome.code == 4
    assert "run the same command after" in outcome.err


@pytest.mark.parametrize("status", [401, 200])
def test_no_secret_reaches_a_file_or_the_screen(bed: Bed, status: int) -> None:
    """R80: key and header values, echoed by the server in body and header, are nowhere; names of variables are."""
    (bed.folder / "providers.toml").write_text(
        '[gate]\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "GATE_KEY"\nheaders = { X-Team = "GATE_TEAM" }\n'
    )

    def echo(asked: Asked) -> Served:
        text = f"{asked.headers['authorization']} {asked.headers['x-team']}"
        body = {"error": {"message": text}} if status == 401 else {"choices": [{"message": {"content": text}}]}
        return Served(status, json.dumps(body).encode(), {"X-Echo": text})

    with ModelEndpoint(echo) as endpoint:
        arguments = ("eval", "small@1.0.0", "--model", "m", "--provider", "gate", "--base-url", endpoint.base_url)
        outcome = bed(*arguments, GATE_KEY=KEY, GATE_TEAM=TEAM)
        assert endpoint.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert endpoint.asked[0].headers["x-team"] == TEAM
    everything = outcome.out + outcome.err
    for path in [*bed.folder.rglob("*"), *bed.home.rglob("*")]:
        if path.is_file():
            everything += path.read_bytes().decode("utf-8", "replace")
    assert "GATE_KEY" in everything
    assert "redacted" in everything
    for secret in (KEY, TEAM, "canary-7"):
        assert secret not in everything


def test_an_unset_variable_is_an_error(bed: Bed) -> None:
    with ModelEndpoint(right) as endpoint:
        outcome = bed.eval("small@1.0.0", endpoint, "--api-key-env", "NOT_SET_ANYWHERE")
    assert outcome.code == 2
    assert "NOT_SET_ANYWHERE" in outcome.err
    assert endpoint.asked == []


def test_a_key_in_the_place_of_its_variables_name_is_not_repeated(bed: Bed) -> None:
    """R80: who writes the key itself into the command is told so, without the key."""
    outcome = bed("eval", "small@1.0.0", "--model", "m", "--base-url", "http://h/v1", "--api-key-env", "sk-canary-71")
    assert outcome.code == 2
    assert "canary" not in outcome.out + outcome.err


def test_a_key_that_no_header_can_hold(bed: Bed) -> None:
    """The value itself is not shown."""
    with ModelEndpoint(right) as endpoint:
        outcome = bed.eval("small@1.0.0", endpoint, OPENAI_API_KEY=f"{KEY}\n")
    assert outcome.code == 2
    assert KEY not in outcome.out + outcome.err


def test_dry_run(bed: Bed) -> None:
    """The exact bodies, one a line; nobody is asked and nothing written."""
    with ModelEndpoint(right) as endpoint:
        dry = bed.eval("small@1.0.0", endpoint, "--dry-run")
        assert endpoint.asked == []
        assert not (bed.folder / "runs").exists()
        bed.eval("small@1.0.0", endpoint)
    assert sorted(dry.out.encode().splitlines()) == sorted(asked.raw for asked in endpoint.asked)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--model", "m"), 2),
        (("--base-url", "http://127.0.0.1:9/v1"), 2),
        (("--model", "m", "--base-url", "ftp://h"), 3),
        (("--model", "m", "--provider", "nobody"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--slots", "2"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--temperature", "nan"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--temperature", "warm"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--min-coverage", "1.1"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--repeat", "0"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--repeat", "1000000000"), 3),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--limit", str(2**53 + 1)), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--seed", str(2**53)), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--max-output-tokens", str(2**53 + 1)), 2),
        (("--model", "\udcff", "--base-url", "http://127.0.0.1:9/v1"), 2),  # a byte that is not UTF-8
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--label", "\udcff"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--eval", "nope"), 3),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--cases", "nope.txt"), 3),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--stream"), 2),
        (("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--api", "responses"), 2),
    ],
)
def test_bad_usage(bed: Bed, arguments: tuple[str, ...], code: int) -> None:
    """One line that helps, no traceback, nothing written."""
    outcome = bed("eval", "small@1.0.0", *arguments)
    assert outcome.code == code
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err
    assert not (bed.folder / "runs").exists()


def test_temperature_none_is_left_out(bed: Bed) -> None:
    with ModelEndpoint(right) as endpoint:
        bed.eval("small@1.0.0", endpoint, "--temperature", "none", "--limit", "1")
    assert set(endpoint.asked[0].body) == {"model", "messages", "max_tokens"}


def test_a_second_process_is_refused(bed: Bed) -> None:
    """While one process asks, another one with the same command is told so; the first is not disturbed."""
    started, ended = threading.Event(), threading.Event()

    def slowly(asked: Asked) -> Served:
        started.set()
        ended.wait(120)
        return right(asked)

    with ModelEndpoint(slowly) as endpoint:
        first: list[Outcome] = []
        running = threading.Thread(target=lambda: first.append(bed.eval("small@1.0.0", endpoint)))
        running.start()
        try:
            assert started.wait(120)
            second = bed.eval("small@1.0.0", endpoint)
        finally:
            ended.set()
            running.join()
    assert second.code == 4
    assert "another process is running this run" in second.err
    assert first[0].code == 0
    assert len(endpoint.asked) == 8


def committed(run: Path) -> set[str]:
    """The prompts whose replies the journal holds, read by SQLite alone from a copy of its files."""
    database = sqlite3.connect(run / "journal.sqlite")
    try:
        rows = database.execute("SELECT request FROM step").fetchall()
    except sqlite3.OperationalError:  # killed before the first commit
        rows = []
    database.close()
    return {json.loads(request)["messages"][-1]["content"] for (request,) in rows}


def start(bed: Bed, endpoint: ModelEndpoint, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "trunchbuild", "eval", "large@1.0.0", "--model", "m", "--label", "test"]
    command += ["--base-url", endpoint.base_url, "--concurrency", "3", *arguments]
    environment = {**os.environ, "TRUNCHBUILD_HOME": str(bed.home)}
    return subprocess.Popen(
        command, cwd=bed.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def test_kill_9_at_random_points(bed: Bed, tmp_path: Path) -> None:
    """R71, R78: a dozen kills in one run. No committed reply is asked again or lost, and the end is the same."""
    draw = random.Random(20270101)
    current: list[Any] = []
    countdown = [0]

    def script(asked: Asked) -> Served:
        countdown[0] -= 1
        if countdown[0] == 0 and current:
            process, delay = current[0], draw.uniform(0, 0.12)
            threading.Timer(delay, lambda: os.kill(process.pid, signal.SIGKILL)).start()
        time.sleep(draw.uniform(0, 0.03))
        return right(asked)

    kills, kept = 0, set[str]()
    with ModelEndpoint(script) as endpoint:
        while kills < 12:
            countdown[0] = draw.randint(1, 4)
            before = len(endpoint.asked)
            with start(bed, endpoint) as process:
                current[:] = [process]
                process.communicate()
            assert kept.isdisjoint(asked.prompt for asked in endpoint.asked[before:]), (
                "a committed reply was asked again"
            )
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL
            kills += 1
            now = committed(bed.run)
            assert kept <= now, "a committed reply was lost"
            kept = now
        current.clear()
        before = len(endpoint.asked)
        last = bed.eval("large@1.0.0", endpoint, "--concurrency", "3", "--json")
        assert len(endpoint.asked) - before == 40 - len(committed_before(kept, process.returncode))
        assert last.code == 0
        whole = Bed(bed.home, tmp_path / "whole")
        whole.folder.mkdir()
        uninterrupted = whole.eval("large@1.0.0", endpoint, "--json")
    assert kills >= 6
    assert json.loads(last.out)["results_digest"] == json.loads(uninterrupted.out)["results_digest"]
    assert json.loads(last.out)["figures"]["all"] == 40
    assert bed("verify", bed.run).code == 0


def committed_before(kept: set[str], code: int) -> set[str] | range:
    """What the last session found: everything, where an earlier one had come to the end."""
    return range(40) if code == 0 else kept


def test_interrupted_by_the_user(bed: Bed) -> None:
    """Ctrl-C: exit 130, what was answered is committed."""
    answered = threading.Event()

    def script(asked: Asked) -> Served:
        if asked.prompt == "5 + 1?":
            answered.set()
        return right(asked) if int(asked.prompt.split()[0]) < 6 else Served(delay=20)

    with ModelEndpoint(script) as endpoint:
        process = start(bed, endpoint)
        assert answered.wait(20)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert b"interrupted" in err
    assert len(committed(bed.run)) == 6


def test_the_private_part_is_in_no_file_of_a_run(bed: Bed) -> None:
    with ModelEndpoint(right) as endpoint:
        bed.eval("small@1.0.0", endpoint)
    assert not any(CANARY.encode() in path.read_bytes() for path in bed.run.iterdir())
    assert not any(CANARY.encode() in asked.raw for asked in endpoint.asked)


def test_imported_replies(bed: Bed) -> None:
    lines = [json.dumps({"id": f"q{n}", "response": str(n + 1)}) for n in range(8)]
    (bed.folder / "replies.jsonl").write_text("\n".join(lines) + "\n")
    outcome = bed("grade", "small@1.0.0", "--replies", "replies.jsonl", "--model", "elsewhere", "-o", "run")
    assert outcome.code == 0
    assert "imported replies" in outcome.out
    assert bed("verify", "run").code == 0
    (bed.folder / "replies.jsonl").write_text(json.dumps({"id": "q99", "response": "1"}) + "\n")
    unknown = bed("grade", "small@1.0.0", "--replies", "replies.jsonl", "-o", "other")
    assert unknown.code == 3
    assert "replies.jsonl:1" in unknown.err
    assert not (bed.folder / "other").exists()


def test_a_run_without_its_release(bed: Bed, tmp_path: Path) -> None:
    """A stranger's home lacks the release: open, exit 4, with what to do; named by --release it verifies."""
    with ModelEndpoint(right) as endpoint:
        bed.eval("small@1.0.0", endpoint)
    stranger = Bed(tmp_path / "empty", bed.folder)
    outcome = stranger("verify", bed.run)
    assert outcome.code == 4
    assert "trunchbuild import" in outcome.out
    bed("export", "small@1.0.0", bed.folder / "copy")
    assert stranger("verify", bed.run, "--release", "./copy").code == 0
