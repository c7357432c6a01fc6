"""Batches: jobs on their own, one report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fakes.runtime import FakeRuntime
from trunchbuild.core.batch import InvalidBatchError, JobResult
from trunchbuild.core.json_types import Json
from trunchbuild.effects.files._local import LocalFiles
from trunchbuild.effects.folder._plain import PlainFolders
from trunchbuild.effects.runtime.api import SourceText, TransformDiffersError
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import BadInputError, ExitCode
from trunchbuild.flows.batch import BatchOutcome, JobFailure, transform_batch
from trunchbuild.flows.transform_files import TransformTools


def cases(sources: Mapping[str, SourceText]) -> list[Json]:
    return [{"id": line, "prompt": "p"} for line in sources["rows"].content.split("\n") if line]


class Batch:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runtime = FakeRuntime(transforms={f"{name}.mjs": cases for name in "abc"})
        self.tools = TransformTools(LocalFiles(), PlainFolders(), self.runtime, PackageSchemas())
        self.jobs: list[dict[str, Json]] = []
        for number, name in enumerate("abc", 1):
            (folder / f"{name}.mjs").touch()
            (folder / f"{name}.txt").write_text("".join(f"{name}{n}\n" for n in range(number)))
            job: dict[str, Json] = {
                "id": f"job-{name}",
                "transformer": f"{name}.mjs",
                "sources": {"rows": f"{name}.txt"},
                "output": f"out/{name}.jsonl",
            }
            self.jobs.append(job)

    def run(self, *, parallel: int = 1, check: bool = False) -> BatchOutcome:
        self.ended: list[str] = []
        manifest = self.folder / "batch.json"
        manifest.write_text(json.dumps({"protocolVersion": 1, "jobs": self.jobs}))
        return transform_batch(
            manifest, self.tools, parallel=parallel, check=check, job_ended=lambda job: self.ended.append(job.id)
        )

    def written(self) -> list[str]:
        return sorted(path.name for path in self.folder.rglob("*.json*") if path.name != "batch.json")


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    return Batch(tmp_path)


@pytest.mark.parametrize("parallel", [1, 3, 50])
def test_the_report_stands_in_job_order(batch: Batch, parallel: int) -> None:
    outcome = batch.run(parallel=parallel)
    assert outcome.exit_code == ExitCode.YES
    assert sorted(batch.ended) == ["job-a", "job-b", "job-c"]
    expected = {
        "protocolVersion": 1,
        "manifest": "batch.json",
        "jobCount": 3,
        "caseCount": 6,
        "results": [
            {
                "id": f"job-{name}",
                "transformerName": f"fake {name}.mjs",
                "caseCount": count,
                "output": f"out/{name}.jsonl",
                "receipt": f"out/{name}.jsonl.manifest.json",
            }
            for count, name in enumerate("abc", 1)
        ],
    }
    assert (batch.folder / "batch.json.report.json").read_text() == json.dumps(expected, indent=2) + "\n"


@pytest.mark.parametrize("parallel", [1, 3])
def test_one_failure_does_not_stop_the_others(batch: Batch, parallel: int) -> None:
    batch.runtime.transforms = {**batch.runtime.transforms, "a.mjs": TransformDiffersError("differs")}
    batch.jobs[1]["expectedCaseCount"] = 7
    outcome = batch.run(parallel=parallel)
    assert [type(job) for job in outcome.jobs] == [JobFailure, JobFailure, JobResult]
    assert outcome.exit_code == ExitCode.NO
    assert outcome.report is None
    assert batch.written() == ["c.jsonl", "c.jsonl.manifest.json"]


def test_the_exit_code_is_that_of_the_first_failing_job(batch: Batch) -> None:
    batch.jobs[1]["sources"] = {"rows": "nowhere.txt"}
    batch.runtime.transforms = {**batch.runtime.transforms, "c.mjs": TransformDiffersError("differs")}
    assert batch.run().exit_code == ExitCode.BAD_INPUT


def test_a_failure_leaves_an_older_report_as_it_was(batch: Batch) -> None:
    batch.run()
    before = (batch.folder / "batch.json.report.json").read_bytes()
    (batch.folder / "a.txt").write_text("x\nx\n")
    assert batch.run().report is None
    assert (batch.folder / "batch.json.report.json").read_bytes() == before
    assert (batch.folder / "out/a.jsonl").read_text() == '{"id":"a0","prompt":"p"}\n'


def test_check_writes_nothing_and_finds_every_difference(batch: Batch) -> None:
    assert batch.run(check=True).exit_code == ExitCode.NO
    assert batch.written() == []
    batch.run()
    assert batch.run(check=True).exit_code == ExitCode.YES
    (batch.folder / "out/b.jsonl").write_text("{}\n")
    outcome = batch.run(check=True)
    assert [isinstance(job, JobFailure) for job in outcome.jobs] == [False, True, False]
    batch.run()
    (batch.folder / "batch.json.report.json").write_text("{}\n")
    outcome = batch.run(check=True)
    assert (outcome.exit_code, outcome.report) == (ExitCode.NO, None)
    assert outcome.report_error is not None
    assert outcome.report_error.faults[0].place == "batch.json.report.json:1"


@pytest.mark.parametrize(
    ("member", "path"),
    [("output", "../x.jsonl"), ("transformer", "../t.mjs"), ("output", "link/x.jsonl"), ("sources", "../rows")],
)
def test_a_manifest_names_nothing_outside_its_repository(
    batch: Batch, member: str, path: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (batch.folder / "link").symlink_to(elsewhere)
    batch.jobs[1][member] = {"rows": path} if member == "sources" else path
    with pytest.raises(InvalidBatchError, match="leaves the repository"):
        batch.run()
    assert batch.written() == []
    assert list(elsewhere.iterdir()) == []


def test_a_broken_manifest_is_named_by_line(batch: Batch) -> None:
    (batch.folder / "batch.json").write_text('{"protocolVersion": 1,\n "jobs": [}')
    with pytest.raises(BadInputError) as raised:
        transform_batch(batch.folder / "batch.json", batch.tools, parallel=1, check=False, job_ended=lambda _: None)
    assert raised.value.faults[0].place.startswith("batch.json:2:")
