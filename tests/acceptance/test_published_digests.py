"""Transformers of our own give the published digests; receipts and report have the bytes that Node would write."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import json_by_node
from tests.support.command import trunchbuild
from tests.support.shared_data import COMMITTED, shared_data

GSM8K = "c7a5ab65f0e1d78c6e56499488e4fdaac8f9ed6fc9b2e0b19d8b46e02b03dae4"
ARC_MINI = "c7dae6a5bf0022c1808c740e4cba9e5babf4700e389b4eb99de645d35e039690"

JOBS = {
    "gsm8k": {
        "transformer": "transformers/gsm8k.ts",
        "sources": {"train": "data/train.jsonl", "test": "data/test.jsonl"},
        "expectedCaseCount": 8792,
    },
    "arc-mini": {
        "transformer": "transformers/science.py",
        "sources": {"cases": "data/science-reasoning.jsonl"},
        "expectedCaseCount": 5,
    },
}
NAMES = {"gsm8k": "GSM8K port", "arc-mini": "Science port"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    shutil.copytree(COMMITTED / "acceptance", work)
    (work / "data").mkdir()
    for source in ("gsm8k/train.jsonl", "gsm8k/test.jsonl", "arc-mini/science-reasoning.jsonl"):
        shutil.copy(shared_data(source), work / "data")
    jobs = [{"id": name, "output": f"exports/{name}.jsonl", **job} for name, job in JOBS.items()]
    (work / "batch.json").write_text(json.dumps({"protocolVersion": 1, "jobs": jobs}))
    return work


def sha256sum(path: Path) -> str:
    """What the standard tool says."""
    return subprocess.run(["sha256sum", path], capture_output=True, check=True, text=True).stdout.split()[0]


def test_a_batch_of_both(folder: Path, warm_home: Path) -> None:
    outcome = trunchbuild("transform-batch", "batch.json", "--jobs=2", cwd=folder, home=warm_home)
    assert (outcome.code, outcome.err) == (0, "")
    assert sha256sum(folder / "exports/gsm8k.jsonl") == GSM8K
    assert sha256sum(folder / "exports/arc-mini.jsonl") == ARC_MINI
    for name, job in JOBS.items():
        output, transformer = f"exports/{name}.jsonl", str(job["transformer"])
        expected = json_by_node.receipt(
            folder, name=NAMES[name], transformer=transformer, sources=job["sources"], output=output
        )
        assert (folder / f"{output}.manifest.json").read_text() == expected
    report = {
        "protocolVersion": 1,
        "manifest": "batch.json",
        "jobCount": 2,
        "caseCount": 8797,
        "results": [
            {
                "id": name,
                "transformerName": NAMES[name],
                "caseCount": job["expectedCaseCount"],
                "output": f"exports/{name}.jsonl",
                "receipt": f"exports/{name}.jsonl.manifest.json",
            }
            for name, job in JOBS.items()
        ],
    }
    assert (folder / "batch.json.report.json").read_text() == json_by_node.indented(report)

    assert trunchbuild("transform-batch", "batch.json", "--check", cwd=folder, home=warm_home).code == 0
    export = folder / "exports/gsm8k.jsonl"
    export.write_bytes(export.read_bytes().replace(b"test-row-1319", b"test-row-1320"))
    outcome = trunchbuild("transform-batch", "batch.json", "--check", cwd=folder, home=warm_home)
    assert outcome.code == 1
    assert "exports/gsm8k.jsonl:8792" in outcome.err


def test_a_single_transform(folder: Path, warm_home: Path) -> None:
    outcome = trunchbuild(
        "transform",
        *("--transformer=transformers/gsm8k.ts", "--source=test=data/test.jsonl", "--source=train=data/train.jsonl"),
        "--output=cases.jsonl",
        cwd=folder,
        home=warm_home,
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert sha256sum(folder / "cases.jsonl") == GSM8K
    expected = json_by_node.receipt(
        folder,
        name="GSM8K port",
        transformer="transformers/gsm8k.ts",
        sources={"train": "data/train.jsonl", "test": "data/test.jsonl"},
        output="cases.jsonl",
    )
    assert (folder / "cases.jsonl.manifest.json").read_text() == expected
