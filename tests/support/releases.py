"""Small releases made from values, so that a test of stores, checks and proofs needs no repository and no runtime."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tests.fakes.trees import MemoryTree
from trunchbuild.core.case_settings import Limits, Tool
from trunchbuild.core.ids import CommitSha, ReleaseId
from trunchbuild.core.loaded import (
    BenchmarkFacts,
    CaseLines,
    CustomEvaluator,
    FileRecord,
    LoadedBenchmark,
    LoadedEval,
    SourceRecord,
    TransformerRecord,
)
from trunchbuild.core.provenance import Provenance
from trunchbuild.effects.git.api import Pin
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.flows.build import build_release, write_provenance

PIN = Pin(
    url="https://example.invalid/bench.git",
    requested="main",
    resolved_ref="refs/heads/main",
    object_format="sha1",
    commit=CommitSha("1" * 40),
    tree="2" * 40,
)
MODULES = {
    "evaluators/half.js": "export default {evaluate() { return {passed: true, score: 0.5, message: null}} }\n",
    "tools/add.js": "export default { description: 'Adds.', inputSchema: {type: 'object'}, execute: (x) => x }\n",
}
RECORD = FileRecord("data/cases.jsonl", "ab" * 32, 12)


def dumped(value: object) -> bytes:
    """The RFC 8785 bytes of a value of ASCII keys, strings and small integers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def case(eval_id: str, case_id: str, prompt: str, expected: str = "4", **more: object) -> CaseLines:
    """One case graded by `exact@1`; `more` are further public members."""
    return CaseLines(
        id=case_id,
        public=dumped({"eval": eval_id, "id": case_id, "prompt": prompt, **more}),
        private=dumped({"eval": eval_id, "id": case_id, "evaluate": {"kind": "exact@1", "expected": expected}}),
        kind="exact@1",
    )


def custom_case(eval_id: str, case_id: str, prompt: str) -> CaseLines:
    """One case graded by the eval's own function."""
    evaluate = {
        "kind": "custom",
        "evaluatorKey": "evaluators/half.js#default.evaluate",
        "sourcePath": "evaluators/half.js",
    }
    return CaseLines(
        id=case_id,
        public=dumped({"eval": eval_id, "id": case_id, "prompt": prompt}),
        private=dumped({"eval": eval_id, "id": case_id, "evaluate": evaluate, "data": {"answer": 7}}),
        kind="custom",
    )


SUMS = (
    case("sums", "add-1", "1 + 3?", "4", tags={"level": 1}),
    case("sums", "add-2", "Wie viel ist 2 + 2, Jürgen?", "4"),
    case("sums", "add-3", "😀 + 1?", "5", limits={"maxOutputTokens": 16}),
)
WORDS = (custom_case("words", "w/1", "Name a word."), custom_case("words", "w/2", "Name another."))


def transformed_eval(cases: Iterable[CaseLines] = SUMS) -> LoadedEval:
    """An eval whose cases a transformer made of one source."""
    return LoadedEval(
        id="sums",
        title="Sums",
        module=FileRecord("evals/sums.js", "cd" * 32, 200),
        form="transformer",
        cases=cases,
        system_prompt="Answer with the number.",
        limits=Limits(max_output_tokens=64),
        transformer=TransformerRecord(
            name="Sums",
            path="transformers/index.js",
            modules=(FileRecord("transformers/index.js", "ef" * 32, 300),),
            sources=(SourceRecord("cases", RECORD),),
        ),
    )


def graded_eval(cases: Iterable[CaseLines] = WORDS) -> LoadedEval:
    """An inline eval with a function of the repository as evaluator, and a tool."""
    return LoadedEval(
        id="words",
        title="Words",
        module=FileRecord("evals/words.js", "12" * 32, 100),
        form="inline",
        cases=cases,
        tools={"add": Tool("Adds.", {"type": "object"}, "tools/add.js")},
        custom=CustomEvaluator("evaluators/half.js", "default.evaluate"),
        run_modules=("evaluators/half.js", "tools/add.js"),
    )


def benchmark(*evals: LoadedEval, version: str = "1.0.0", title: str = "Small Sums") -> LoadedBenchmark:
    """A benchmark of these evals; without any, of both kinds above."""
    return LoadedBenchmark(
        protocol_version=1,
        config_path="benchmark.config.js",
        facts=BenchmarkFacts(title, version, license="CC0-1.0", tags=("arithmetic",)),
        evals=evals or (transformed_eval(), graded_eval()),
    )


def provenance(release: ReleaseId) -> Provenance:
    """How the release was built, as it might be."""
    return Provenance(
        release, "2026-01-02T03:04:05Z", "main", url=PIN.url, versions={"trunchbuild": "0.1.0", "node": "v24.0.0"}
    )


def add_release(
    store: DiskStore,
    loaded: LoadedBenchmark | None = None,
    *,
    pin: Pin = PIN,
    seal_key: bytes | None = None,
    modules: Mapping[str, str] = MODULES,
) -> ReleaseId:
    """Freeze a benchmark and keep it."""
    with store.stage(keep=True) as stage:
        built = build_release(loaded or benchmark(), MemoryTree(modules), pin, stage, seal_key=seal_key)
        write_provenance(stage, replace(provenance(built.digest), sealed=seal_key is not None))
        assert stage.keep() == built.digest
        return built.digest


def export(store: DiskStore, release: ReleaseId, folder: Path, leave_out: Sequence[str] = ()) -> Path:
    """Write a release's files below a folder, as they are."""
    raw = store.open_raw(release)
    for name in raw.names():
        if name not in leave_out:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with raw.open(name) as file:
                path.write_bytes(file.read())
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rehashed(folder: Path, change: Callable[[list[bytes], list[bytes]], None]) -> None:
    """Change lines and give the folder a manifest that fits its files: only what (4) looks at is wrong then."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    public = (folder / "cases.jsonl").read_bytes().splitlines()
    private = (folder / "private.jsonl").read_bytes().splitlines()
    change(public, private)
    for name, lines in (("cases.jsonl", public), ("private.jsonl", private)):
        data = b"".join(line + b"\n" for line in lines)
        (folder / name).write_bytes(data)
        for entry in manifest["files"]:
            if entry["path"] == name:
                entry.update(
                    sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), lines=len(lines), merkleRoot=root(lines)
                )
    (folder / "manifest.json").write_bytes(
        json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    )
    (folder / "provenance.json").unlink()


def root(lines: list[bytes]) -> str:
    """RFC 6962, section 2.1, as it is written there: by recursion at the largest power of two."""

    def mth(part: list[bytes]) -> bytes:
        if len(part) == 1:
            return hashlib.sha256(b"\0" + part[0]).digest()
        split = 1
        while split * 2 < len(part):
            split *= 2
        return hashlib.sha256(b"\1" + mth(part[:split]) + mth(part[split:])).digest()

    return mth(lines).hex()
