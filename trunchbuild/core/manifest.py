"""The manifest: what a release is made of, in bytes that anyone can hash. `docs/reference/formats.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.case_settings import NO_LIMITS, Limits, Tool
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import BenchmarkFacts, CaseForm, FileRecord, TransformerRecord
from trunchbuild.errors import BadInputError

MANIFEST_TYPE = "trunchbuild.release/v1"
MANIFEST = "manifest.json"
CASES = "cases.jsonl"
PRIVATE = "private.jsonl"
PROVENANCE = "provenance.json"
MODULES = "modules/"
"""Prefix of the files that a run executes; the repository path follows."""

CUSTOM = "custom"
"""The kind of evaluators that are functions of the repository."""

PROTOCOL_VERSION = 1

MAX_LINE_BYTES = 64 << 20
"""Of one line of the two JSONL files: none is written longer, so that a reader need hold no more."""


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The commit that a release was built from; facts of content only, no address."""

    object_format: Literal["sha1", "sha256"]
    commit: str
    tree: str
    config: str
    """Repository path of the config file."""


@dataclass(frozen=True, slots=True)
class EvaluatorUse:
    """One evaluator that an eval's cases use, and how many do; its parameters are in the private part."""

    kind: str
    """Kind and number, `exact@1`."""
    cases: int
    module: str | None = None
    """Repository path, for a function of the repository; the file stands under `modules/`."""
    member: str | None = None
    """Which export of that module."""


@dataclass(frozen=True, slots=True)
class EvalEntry:
    """One eval as the manifest states it; the config's defaults are merged in."""

    id: str
    title: str
    module: FileRecord
    form: CaseForm
    case_count: int
    evaluators: tuple[EvaluatorUse, ...]
    """Sorted by kind, module, member."""
    description: str | None = None
    system_prompt: str | None = None
    limits: Limits = NO_LIMITS
    tools: Mapping[str, Tool] | None = None
    case_file: FileRecord | None = None
    transformer: TransformerRecord | None = None


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """One file of a release."""

    path: str
    sha256: str
    bytes: int
    lines: int | None = None
    """Only for the two JSONL files, like the Merkle root."""
    merkle_root: str | None = None
    """RFC 6962 over the lines without their LF, bare hex."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a release holds. Its canonical bytes are `manifest.json`; their SHA-256 is the release's digest."""

    benchmark: BenchmarkFacts
    source: SourceFacts
    evals: tuple[EvalEntry, ...]
    """In the config's order, which is also the order of the cases."""
    files: tuple[ReleaseFile, ...]
    """Sorted by path; the manifest and `provenance.json` are not among them."""
    protocol_version: int = PROTOCOL_VERSION

    @property
    def case_count(self) -> int:
        """All cases of all evals."""
        return sum(entry.case_count for entry in self.evals)

    def file(self, path: str) -> ReleaseFile:
        """The entry of one file.

        Raises:
            BadInputError: The manifest does not list it.
        """
        for entry in self.files:
            if entry.path == path:
                return entry
        raise BadInputError("the release has no such file", place=path)

    def eval(self, eval_id: str) -> EvalEntry:
        """The entry of one eval.

        Raises:
            BadInputError: There is none of that id.
        """
        for entry in self.evals:
            if entry.id == eval_id:
                return entry
        raise BadInputError(
            "the release has no such eval",
            expected=" or ".join(f"`{entry.id}`" for entry in self.evals),
            got=f"`{eval_id}`",
        )

    def json(self) -> JsonObject:
        """The manifest as JSON."""
        return {
            "type": MANIFEST_TYPE,
            "protocolVersion": self.protocol_version,
            "benchmark": _facts_json(self.benchmark),
            "source": {
                "objectFormat": self.source.object_format,
                "commit": self.source.commit,
                "tree": self.source.tree,
                "config": self.source.config,
            },
            "evals": [eval_json(entry) for entry in self.evals],
            "files": [_file_json(entry) for entry in self.files],
        }

    def canonical_bytes(self) -> bytes:
        """RFC 8785 bytes, as `manifest.json` holds them."""
        return canonical_bytes(self.json())


def _drop_none(value: Mapping[str, Json]) -> JsonObject:
    return {name: item for name, item in value.items() if item is not None}


def _facts_json(facts: BenchmarkFacts) -> JsonObject:
    return _drop_none(
        {
            "title": facts.title,
            "version": facts.version,
            "description": facts.description,
            "license": facts.license,
            "homepage": facts.homepage,
            "tags": list(facts.tags) or None,
        }
    )


def record_json(record: FileRecord) -> JsonObject:
    """A repository file as manifest and lockfile write it."""
    return {"path": record.path, "sha256": record.sha256, "bytes": record.bytes}


def _file_json(entry: ReleaseFile) -> JsonObject:
    return _drop_none(
        {
            "path": entry.path,
            "sha256": entry.sha256,
            "bytes": entry.bytes,
            "lines": entry.lines,
            "merkleRoot": entry.merkle_root,
        }
    )


def _transformer_json(transformer: TransformerRecord) -> JsonObject:
    return {
        "name": transformer.name,
        "path": transformer.path,
        "modules": [record_json(module) for module in transformer.modules],
        "sources": [{"name": source.name, **record_json(source.file)} for source in transformer.sources],
    }


def eval_json(entry: EvalEntry) -> JsonObject:
    """One eval as the manifest writes it."""
    cases: dict[str, Json] = {"form": entry.form, "count": entry.case_count}
    if entry.case_file is not None:
        cases["file"] = record_json(entry.case_file)
    if entry.transformer is not None:
        cases["transformer"] = _transformer_json(entry.transformer)
    evaluators: list[Json] = [
        _drop_none({"kind": use.kind, "cases": use.cases, "module": use.module, "member": use.member})
        for use in entry.evaluators
    ]
    return _drop_none(
        {
            "id": entry.id,
            "title": entry.title,
            "description": entry.description,
            "systemPrompt": entry.system_prompt,
            "limits": entry.limits.json() or None,
            "tools": None if entry.tools is None else {name: tool.json() for name, tool in entry.tools.items()},
            "module": record_json(entry.module),
            "evaluators": evaluators,
            "cases": cases,
        }
    )
