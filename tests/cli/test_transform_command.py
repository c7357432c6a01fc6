"""`transform` and `transform-batch` as whole commands, on real transformers."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.support.command import trunchbuild
from tests.support.node import node
from tests.support.shared_data import COMMITTED, shared_data

AUTHORING = COMMITTED / "authoring"
GSM8K_SHA256 = "c7a5ab65f0e1d78c6e56499488e4fdaac8f9ed6fc9b2e0b19d8b46e02b03dae4"
ARC_MINI_SHA256 = "c7dae6a5bf0022c1808c740e4cba9e5babf4700e389b4eb99de645d35e039690"

# What the contract says of a receipt, written by Node from the files alone.
RECEIPT = """
import fs from "node:fs"
import { createHash } from "node:crypto"
const [name, transformer, sources, caseCount, output, format] = JSON.parse(process.argv[1])
const sha256 = (path) => createHash("sha256").update(fs.readFileSync(path)).digest("hex")
process.stdout.write(JSON.stringify({
  protocolVersion: 1,
  transformer: { name, path: transformer, sha256: sha256(transformer) },
  sources: Object.fromEntries(Object.keys(sources).sort().map((key) => [key, {
    path: sources[key], sha256: sha256(sources[key]), bytes: fs.statSync(sources[key]).size }])),
  caseCount,
  output: { path: output, format, sha256: sha256(output) },
}, null, 2) + "\\n")
"""

# The transformer run by Node itself, without us.
BY_NODE = """
import fs from "node:fs"
import { pathToFileURL } from "node:url"
const [module, sources, indent] = JSON.parse(process.argv[1])
const transformer = (await import(pathToFileURL(module))).default
const content = Object.fromEntries(
  Object.entries(sources).map(([name, path]) => [name, { path, content: fs.readFileSync(path, "utf8") }]))
const cases = await transformer.transform({ sources: content })
process.stdout.write(indent ? JSON.stringify(cases, null, 2) + "\\n"
  : cases.map((one) => JSON.stringify(one) + "\\n").join(""))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plain folder with two transformers and their sources."""
    shutil.copytree(AUTHORING, tmp_path / "work")
    (tmp_path / "work" / "data").mkdir()
    shutil.copy(COMMITTED / "gsm8k" / "test-rows.jsonl", tmp_path / "work" / "data" / "test.jsonl")
    return tmp_path / "work"


def receipt_by_node(folder: Path, *values: object) -> str:
    return node(f"process.chdir({json.dumps(str(folder))});{RECEIPT}", json.dumps(values))


def expected_gsm8k(rows: Path, split: str) -> str:
    """What the contract says comes out, written by Python's json."""
    cases = []
    for number, line in enumerate(rows.read_text().splitlines(), 1):
        row = json.loads(line)
        cases.append(
            {
                "id": f"{split}-row-{number}",
                "prompt": row["question"],
                "description": f"GSM8K {split} split mathematics problem.",
                "evaluate": {"kind": "gsm8k", "expected": row["answer"].rpartition("#### ")[2].replace(",", "")},
            }
        )
    return "".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n" for case in cases)


@pytest.mark.parametrize("module", ["gsm8k/transformers/index.ts", "gsm8k/transformers/rows.py"])
def test_an_export_and_its_receipt(folder: Path, warm_home: Path, module: str) -> None:
    outcome = trunchbuild(
        "transform",
        "--transformer",
        module,
        "--source",
        "test=data/test.jsonl",
        "--output=out/cases.jsonl",
        cwd=folder,
        home=warm_home,
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert (folder / "out/cases.jsonl").read_text() == expected_gsm8k(folder / "data/test.jsonl", "test")
    values = ("GSM8K rows", module, {"test": "data/test.jsonl"}, 36, "out/cases.jsonl", "jsonl")
    assert (folder / "out/cases.jsonl.manifest.json").read_text() == receipt_by_node(folder, *values)


def test_json_form_is_what_node_writes(folder: Path, warm_home: Path) -> None:
    outcome = trunchbuild(
        "transform",
        "--transformer=choices/transformers/index.mjs",
        "--source=cases=choices/data/questions.jsonl",
        "--output=out/cases.json",
        "--format=json",
        "--json",
        cwd=folder,
        home=warm_home,
    )
    assert json.loads(outcome.out) == {
        "transformer": "Science choices",
        "caseCount": 2,
        "files": ["out/cases.json", "out/cases.json.manifest.json"],
        "written": True,
    }
    module, source = folder / "choices/transformers/index.mjs", folder / "choices/data/questions.jsonl"
    by_node = node(BY_NODE, json.dumps([str(module), {"cases": str(source)}, True]))
    assert (folder / "out/cases.json").read_text() == by_node


def test_from_another_folder_the_bytes_are_the_same_and_paths_follow(folder: Path, warm_home: Path) -> None:
    arguments = [
        "--transformer",
        "../choices/transformers/index.mjs",
        "--source",
        "cases=../choices/data/questions.jsonl",
    ]
    elsewhere = folder / "data"
    outcome = trunchbuild("transform", *arguments, "-o", "cases.jsonl", cwd=elsewhere, home=warm_home)
    assert outcome.code == 0, outcome.err
    receipt = json.loads((elsewhere / "cases.jsonl.manifest.json").read_text())
    assert receipt["transformer"]["path"] == "../choices/transformers/index.mjs"
    assert receipt["output"]["path"] == "cases.jsonl"


@pytest.mark.parametrize("language", ["ts", "py"])
def test_all_of_gsm8k(folder: Path, warm_home: Path, language: str) -> None:
    data = shared_data("gsm8k")
    module = {"ts": "gsm8k/transformers/index.ts", "py": "gsm8k/transformers/rows.py"}[language]
    outcome = trunchbuild(
        "transform",
        f"--transformer={module}",
        f"--source=train={data / 'train.jsonl'}",
        f"--source=test={data / 'test.jsonl'}",
        "--output=cases.jsonl",
        "--json",
        cwd=folder,
        home=warm_home,
    )
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["caseCount"] == 8792
    assert hashlib.sha256((folder / "cases.jsonl").read_bytes()).hexdigest() == GSM8K_SHA256


def batch(folder: Path, **jobs: dict[str, object]) -> Path:
    listed = [
        {"id": name, "output": f"out/{name}.jsonl", **job}  # the report shows the manifest's order
        for name, job in jobs.items()
    ]
    (folder / "batch.json").write_text(json.dumps({"protocolVersion": 1, "jobs": listed}))
    return folder / "batch.json"


GSM8K_JOB = {"transformer": "gsm8k/transformers/index.ts", "sources": {"test": "data/test.jsonl"}}
CHOICES_JOB = {
    "transformer": "choices/transformers/index.mjs",
    "sources": {"cases": "choices/data/questions.jsonl"},
    "expectedCaseCount": 2,
}


def test_a_batch_and_its_report(folder: Path, warm_home: Path, tmp_path: Path) -> None:
    batch(folder, rows=GSM8K_JOB, choices=CHOICES_JOB)
    outcome = trunchbuild("transform-batch", "--manifest=work/batch.json", cwd=tmp_path, home=warm_home)
    assert (outcome.code, outcome.err) == (0, "")
    report = {
        "protocolVersion": 1,
        "manifest": "batch.json",
        "jobCount": 2,
        "caseCount": 38,
        "results": [
            {
                "id": name,
                "transformerName": title,
                "caseCount": count,
                "output": f"out/{name}.jsonl",
                "receipt": f"out/{name}.jsonl.manifest.json",
            }
            for name, title, count in (("rows", "GSM8K rows", 36), ("choices", "Science choices", 2))
        ],
    }
    by_node = node(
        "process.stdout.write(JSON.stringify(JSON.parse(process.argv[1]), null, 2) + '\\n')", json.dumps(report)
    )
    assert (folder / "batch.json.report.json").read_text() == by_node
    values = ("Science choices", CHOICES_JOB["transformer"], CHOICES_JOB["sources"], 2, "out/choices.jsonl", "jsonl")
    assert (folder / "out/choices.jsonl.manifest.json").read_text() == receipt_by_node(folder, *values)
    assert trunchbuild("transform-batch", "batch.json", "--check", "--jobs", "2", cwd=folder, home=warm_home).code == 0
    (folder / "out/rows.jsonl").write_text("{}\n")
    outcome = trunchbuild("transform-batch", "batch.json", "--check", cwd=folder, home=warm_home)
    assert outcome.code == 1
    assert "out/rows.jsonl:1" in outcome.err


def test_arc_mini_in_a_batch(folder: Path, warm_home: Path) -> None:
    source = shared_data("arc-mini") / "science-reasoning.jsonl"
    shutil.copy(source, folder / "data" / "arc.jsonl")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    job = {"sources": {"cases": "data/arc.jsonl"}, "expectedCaseCount": 5, "expectedSourceSha256": {"cases": digest}}
    batch(folder, arc={**CHOICES_JOB, **job})
    outcome = trunchbuild("transform-batch", "batch.json", cwd=folder, home=warm_home)
    assert (outcome.code, outcome.err) == (0, "")
    assert hashlib.sha256((folder / "out/arc.jsonl").read_bytes()).hexdigest() == ARC_MINI_SHA256


def test_a_batch_goes_on_after_a_failure(folder: Path, warm_home: Path) -> None:
    batch(folder, rows={**GSM8K_JOB, "expectedCaseCount": 35}, choices=CHOICES_JOB)
    outcome = trunchbuild("transform-batch", "batch.json", "--json", cwd=folder, home=warm_home)
    assert outcome.code == 1
    document = json.loads(outcome.out)
    assert [job["ok"] for job in document["jobs"]] == [False, True]
    fault = document["jobs"][0]["error"]["faults"][0]
    assert (fault["expected"], fault["got"]) == ("35", "36")
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["choices.jsonl", "choices.jsonl.manifest.json"]
    assert not (folder / "batch.json.report.json").exists()
