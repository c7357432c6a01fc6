"""A real model, killed in the middle and resumed: nothing is asked twice, and every way leads to one results digest."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import trunchbuild
from tests.support.repos import folder_files, make_repo
from tests.support.shared_data import COMMITTED

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")

CONFIG = """
export default {{
  protocolVersion: 1, title: "Real model", version: "1.0.0", license: "MIT", evals: ["evals/gsm8k.ts"],
  defaults: {{ limits: {{ maxOutputTokens: {tokens} }} }},
}}
"""
EVAL = """
export default {
  id: "gsm8k", title: "GSM8K", evaluate: { kind: "non_empty" },
  cases: { transformer: "../transformers/first-sentence.ts", sources: { test: "../data/test.jsonl" } },
}
"""
# A small model talks until it is cut off; one that stops after a sentence is both quick and scored.
TRANSFORMER = """
import gsm8k from "./gsm8k"
export default {
  name: "GSM8K, first sentence",
  async transform(input: Parameters<typeof gsm8k.transform>[0]) {
    return (await gsm8k.transform(input)).map((one) => ({ ...one, sampling: { stop: [".", "\\n"] } }))
  },
}
"""


@dataclass(frozen=True)
class Bench:
    """A folder with a compiled release of so many GSM8K test cases."""

    folder: Path
    cases: int

    def command(self, *arguments: str) -> dict[str, Any]:
        outcome = trunchbuild(*arguments, "--json", cwd=self.folder)
        assert outcome.code == 0, outcome
        return json.loads(outcome.out)

    def evaluation(self, out: str) -> list[str]:
        """A sentence longer than the limit is truncated and not scored, which is no fault here."""
        return ["eval", "real-model@1.0.0", "--provider=local", f"--out={out}", "--min-coverage=0", "--json"]

    def run(self, out: str) -> dict[str, Any]:
        return self.command(*self.evaluation(out)[:-1])


def bench(folder: Path, *, cases: int, tokens: int) -> Bench:
    rows = (COMMITTED / "gsm8k" / "test-rows.jsonl").read_bytes().splitlines(keepends=True)
    files = {
        "benchmark.config.mjs": CONFIG.format(tokens=tokens),
        "evals/gsm8k.ts": EVAL,
        "data/test.jsonl": b"".join(rows[:cases]),
        "transformers/first-sentence.ts": TRANSFORMER,
        **folder_files(COMMITTED / "acceptance"),
    }
    make_repo(folder / "repo", files)
    made = Bench(folder, cases)
    assert made.command("compile", "./repo@main")["cases"] == cases
    return made


def committed(out: Path) -> list[tuple[object, ...]]:
    """Every reply that the journal holds by now, as another process sees it."""
    for journal in out.rglob("journal.sqlite"):
        try:
            with closing(sqlite3.connect(f"{journal.as_uri()}?mode=ro", uri=True)) as database:
                return list(database.execute("SELECT eval, id, repeat, started, latency_ms, body FROM step"))
        except sqlite3.OperationalError:
            return []
    return []


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill_after(bench: Bench, out: str, replies: int) -> list[tuple[object, ...]]:
    """Run until so many replies are committed, then `kill -9`; what the journal then holds."""
    command = [sys.executable, "-m", "trunchbuild", *bench.evaluation(out)]
    environment = os.environ | {"TRUNCHBUILD_HOME": f"{bench.folder}.home"}
    with subprocess.Popen(
        command, cwd=bench.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while len(committed(bench.folder / out)) < replies:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        servers = children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert len(servers) == 1
    wait_for_end(servers[0])
    return committed(bench.folder / out)


def wait_for_end(pid: int) -> None:
    """The model's server ends with what started it, however that ended."""
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def replies_of(folder: Path) -> list[tuple[str, str, str]]:
    lines = (folder / "replies.jsonl").read_text().splitlines()
    return [(reply["id"], reply["response"], reply["finish_reason"]) for reply in map(json.loads, lines)]


def killed_and_resumed(bench: Bench, kill_at: int) -> None:
    before = kill_after(bench, "runs", kill_at)
    assert kill_at <= len(before) < bench.cases
    assert not list((bench.folder / "runs").rglob("results.jsonl"))

    resumed = bench.run("runs")
    assert resumed["asked"] == bench.cases - len(before)
    after = committed(bench.folder / "runs")
    assert after[: len(before)] == before
    assert len(after) == bench.cases

    fresh = bench.run("fresh")
    assert fresh["asked"] == bench.cases
    assert fresh["results_digest"] == resumed["results_digest"]
    assert fresh["run"] == resumed["run"]
    assert fresh["figures"]["statuses"]["scored"] > 0
    here, there = bench.folder / resumed["folder"], bench.folder / fresh["folder"]
    assert replies_of(here) == replies_of(there)
    assert len(set(replies_of(here))) == bench.cases
    assert (here / "results.jsonl").read_bytes() == (there / "results.jsonl").read_bytes()

    (here / "results.jsonl").unlink()
    assert bench.command("grade", resumed["folder"])["results_digest"] == resumed["results_digest"]
    assert (here / "results.jsonl").read_bytes() == (there / "results.jsonl").read_bytes()
    verified = bench.command("verify", resumed["folder"], "--digest", resumed["results_digest"])
    assert {check["outcome"] for check in verified["checks"]} == {"yes"}
    assert bench.run("runs")["asked"] == 0


def test_eight_cases_killed_after_three(tmp_path: Path) -> None:
    killed_and_resumed(bench(tmp_path / "work", cases=8, tokens=24), 3)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_twenty_cases_killed_after_eight(tmp_path: Path) -> None:
    killed_and_resumed(bench(tmp_path / "work", cases=20, tokens=96), 8)
