"""Batch manifests: many transforms in one pass, what their author expects of them, and the report on all."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from trunchbuild.core.benchmark import PROTOCOL_VERSIONS
from trunchbuild.core.declared import Declared, path_problem
from trunchbuild.core.ecmascript import stringify
from trunchbuild.core.eval_module import MAX_SOURCES
from trunchbuild.core.fields import kind_of
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.receipt import RECEIPT_ENDING, ExportFormat
from trunchbuild.errors import BadInputError, Fault

REPORT_ENDING = ".report.json"
"""Follows the manifest's own name."""

_KEYS = ("protocolVersion", "jobs")
_JOB_KEYS = ("id", "transformer", "sources", "output", "format", "expectedCaseCount", "expectedSourceSha256")
_HEX64 = re.compile(r"[0-9a-f]{64}\Z")


class InvalidBatchError(BadInputError):
    """A batch manifest does not follow its format; every fault is listed."""

    slug: ClassVar[str] = "invalid-batch"


@dataclass(frozen=True, slots=True)
class BatchJob:
    """One transform. Paths are relative to the manifest, normalised; they may lead out of its folder."""

    id: str
    transformer: str
    sources: Mapping[str, str]
    """Name -> path."""
    output: str
    format: ExportFormat = "jsonl"
    expected_case_count: int | None = None
    expected_source_sha256: Mapping[str, str] = field(default_factory=dict)
    """Name -> bare hex; for any of the sources."""

    @property
    def receipt(self) -> str:
        """The path of the receipt."""
        return self.output + RECEIPT_ENDING


@dataclass(frozen=True, slots=True)
class JobResult:
    """What one job of a batch gave."""

    id: str
    transformer_name: str
    case_count: int
    output: str
    receipt: str


def parse_batch(value: Json, path: str) -> tuple[BatchJob, ...]:
    """Read a batch manifest; `path` is how messages call it, its last part the manifest's file name.

    Raises:
        InvalidBatchError: It has faults; all are listed.
    """
    if not isinstance(value, Mapping):
        raise InvalidBatchError("not a batch manifest", place=path, expected="an object", got=kind_of(value))
    faults: list[Fault] = []
    manifest = Declared(value, path, _KEYS, faults)
    version = manifest.get("protocolVersion")
    if isinstance(version, bool) or version not in PROTOCOL_VERSIONS:
        manifest.wrong("protocolVersion", " or ".join(map(str, PROTOCOL_VERSIONS)), version)
    jobs: list[BatchJob] = []
    if manifest.required("jobs", "a list of jobs"):
        listed = manifest.get("jobs")
        if isinstance(listed, str) or not isinstance(listed, Sequence) or not listed:
            manifest.wrong("jobs", "a list of at least one job", listed)
        else:
            jobs = [_job(manifest, index, item, path) for index, item in enumerate(listed)]
            faults += _clashes(jobs, path)
    if faults:
        raise InvalidBatchError(f"{path} does not follow its format: {len(faults)} faults", faults=faults)
    return tuple(jobs)


def _job(manifest: Declared, index: int, value: Json, path: str) -> BatchJob:
    if not isinstance(value, Mapping):
        manifest.wrong(("jobs", index), "an object", value)
        return BatchJob("", "", {}, "")
    job = Declared(value, path, _JOB_KEYS, manifest.faults, f"/jobs/{index}")
    job_id = job.line("id") or ""
    transformer = _path(job, "transformer", value.get("transformer"), required=True)
    output = _path(job, "output", value.get("output"), required=True)
    sources = _sources(job)
    written = job.text("format")
    if written is not None and written not in ("jsonl", "json"):
        job.wrong("format", "`jsonl` or `json`", written)
    count = value.get("expectedCaseCount")
    if "expectedCaseCount" in value and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        job.wrong("expectedCaseCount", "an integer of at least 1", count)
    return BatchJob(
        job_id,
        transformer,
        sources,
        output,
        "json" if written == "json" else "jsonl",
        count if isinstance(count, int) else None,
        _digests(job, sources),
    )


def _sources(job: Declared) -> dict[str, str]:
    job.required("sources", "an object of source names")
    value = job.mapping("sources", "an object of source names")
    if value is None:
        return {}
    if not 1 <= len(value) <= MAX_SOURCES:
        expected = f"1 to {MAX_SOURCES}"
        job.faults.append(Fault(job.place("sources"), "wrong number of sources", expected, str(len(value))))
    named = job.inner("sources", value, tuple(value))
    return {name: _path(named, name, item, required=True) for name, item in value.items()}


def _digests(job: Declared, sources: Mapping[str, str]) -> dict[str, str]:
    value = job.mapping("expectedSourceSha256", "an object of source names") or {}
    digests = job.inner("expectedSourceSha256", value, tuple(sources))
    for name, digest in value.items():
        if name in sources and not (isinstance(digest, str) and _HEX64.match(digest)):
            digests.wrong(name, "64 lower-case hex digits", digest)
    return {name: digest for name, digest in value.items() if isinstance(digest, str)}


def _path(owner: Declared, name: str, value: Json, *, required: bool) -> str:
    if required and not owner.required(name, "a path relative to the manifest"):
        return ""
    problem = path_problem(value) if isinstance(value, str) else "a path"
    if problem is not None or not isinstance(value, str):
        owner.wrong(name, str(problem), value)
        return ""
    return posixpath.normpath(value)


def _clashes(jobs: Sequence[BatchJob], path: str) -> list[Fault]:
    """Ids that occur twice, and files that two jobs would write or that one would write and another read."""
    faults: list[Fault] = []
    name = posixpath.basename(path)
    owners = {name: "the manifest itself", name + REPORT_ENDING: "the report"}
    for job in jobs:
        for read in (job.transformer, *job.sources.values()):
            owners.setdefault(read, f"a file that job `{job.id}` reads")
    ids: dict[str, int] = {}
    for index, job in enumerate(jobs):
        if job.id and ids.setdefault(job.id, index) != index:
            faults.append(
                Fault(
                    f"{path} /jobs/{index}/id", f"job id `{job.id}` occurs twice", got=f"first at /jobs/{ids[job.id]}"
                )
            )
        for written in (job.output, job.receipt) if job.output else ():
            if written in owners:
                faults.append(
                    Fault(f"{path} /jobs/{index}/output", f"would replace {owners[written]}", got=f"`{written}`")
                )
            owners.setdefault(written, f"what job `{job.id}` writes")
    return faults


def report_json(manifest: str, results: Sequence[JobResult]) -> JsonObject:
    """The report on a batch whose jobs all ended well; `manifest` is the manifest's file name."""
    return {
        "protocolVersion": 1,
        "manifest": manifest,
        "jobCount": len(results),
        "caseCount": sum(result.case_count for result in results),
        "results": [
            {
                "id": result.id,
                "transformerName": result.transformer_name,
                "caseCount": result.case_count,
                "output": result.output,
                "receipt": result.receipt,
            }
            for result in results
        ],
    }


def report_bytes(manifest: str, results: Sequence[JobResult]) -> bytes:
    r"""`JSON.stringify(report, null, 2)` and LF; results stand in job order."""
    return f"{stringify(report_json(manifest, results), 2)}\n".encode()
