"""`python -m fuzz READER|all [--guided N] [--blind N]`: inputs for one reader, or for each in turn.

First a coverage-guided run by atheris, then mutation of what it found without counters.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from fuzz.errors import Reader, attempt
from fuzz.mutate import mutate_json
from fuzz.samples import CORPUS, seeds

STAGES = ("guided", "blind")


def main() -> int:
    """Run the stages of one reader, each in a process of its own; or one stage here."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("reader")
    parser.add_argument("--guided", type=int, default=100_000, help="inputs with counters")
    parser.add_argument("--blind", type=int, default=900_000, help="inputs without")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--found", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stage == "guided":
        run_guided(arguments.reader, arguments.guided, arguments.seed, arguments.found)
    elif arguments.stage == "blind":
        return run_blindly(arguments.reader, arguments.blind, arguments.seed, arguments.found)
    names = sorted(folder.name for folder in CORPUS.iterdir()) if arguments.reader == "all" else [arguments.reader]
    return max(run_reader(name, arguments.guided, arguments.blind, arguments.seed) for name in names)


def run_reader(name: str, guided: int, blind: int, seed: int) -> int:
    """Both stages of a reader; prints a line, and what was found."""
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as found:
        # libFuzzer ends its process without any tidying.
        environment = {**os.environ, "TMPDIR": scratch}
        command = [sys.executable, "-m", "fuzz", name, "--seed", str(seed), "--found", found]
        counts = {"guided": guided, "blind": blind}
        seconds = []
        for stage in STAGES:
            started = time.monotonic()
            words = [*command, "--stage", stage, f"--{stage}", str(counts[stage])]
            done = subprocess.run(words, capture_output=True, check=False, text=True, errors="replace", env=environment)
            seconds.append(f"{time.monotonic() - started:.0f} s")
            if done.returncode != 0:
                print(f"{name}: {stage}: FOUND SOMETHING (exit {done.returncode})")
                print(f"{done.stdout[-3000:]}{done.stderr[-4000:]}", flush=True)
                return 1
        kept = sum(1 for _ in Path(found).iterdir())
        print(f"{name}: {guided:,} guided in {seconds[0]}, {kept:,} kept; {blind:,} blind in {seconds[1]}", flush=True)
    return 0


def run_guided(name: str, runs: int, seed: int, found: Path) -> None:
    """Hand over to libFuzzer, which ends the process."""
    import atheris

    with atheris.instrument_imports(include=["trunchbuild"]):
        from fuzz.readers import READERS
    reader: Reader = READERS[name]

    def one(data: bytes) -> None:
        attempt(reader, data)

    def mutator(data: bytes, max_size: int, seed: int) -> bytes:
        changed = mutate_json(data, max_size, seed) if seed % 4 else None
        return atheris.Mutate(data, max_size) if changed is None else changed

    options = [
        *(f"-runs={runs}", f"-seed={seed}", f"-max_len={reader.max_bytes}", "-timeout=20", "-rss_limit_mb=3000"),
        *(f"-artifact_prefix={tempfile.gettempdir()}/", str(found), str(CORPUS / name)),
    ]
    atheris.Setup([sys.argv[0], *options], one, **({"custom_mutator": mutator} if reader.json else {}))
    atheris.Fuzz()


def run_blindly(name: str, runs: int, seed: int, found: Path) -> int:
    """Mutate the seeds and what the guided run found."""
    from fuzz.blind import FindingError, run_blind
    from fuzz.readers import READERS

    corpus = [path.read_bytes() for path in (*seeds(name), *sorted(found.iterdir()))]
    try:
        run_blind(READERS[name], corpus, runs, seed)
    except FindingError as error:
        traceback.print_exception(error.__cause__)
        print(f"input: {error.data!r}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
