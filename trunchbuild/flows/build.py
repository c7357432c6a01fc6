"""Freeze a loaded benchmark: lines, modules, manifest, provenance. One pass over the cases, whatever their number."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import ClassVar

from trunchbuild.core.cases import MAX_CASES
from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.line_checks import CUSTOM_NUMBERED
from trunchbuild.core.loaded import CaseLines, LoadedBenchmark, LoadedEval
from trunchbuild.core.manifest import (
    CASES,
    CUSTOM,
    MANIFEST,
    MAX_LINE_BYTES,
    MODULES,
    PRIVATE,
    PROVENANCE,
    EvalEntry,
    EvaluatorUse,
    Manifest,
    ReleaseFile,
    SourceFacts,
)
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.merkle import MerkleTree
from trunchbuild.core.provenance import Provenance
from trunchbuild.core.release import case_digest, cases_digest, release_digest
from trunchbuild.core.seal import seal_faults, sealed_line
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.git.api import Pin
from trunchbuild.effects.store.api import ByteSink, Stage
from trunchbuild.errors import BadInputError

_BLOCK = 1 << 20


class CaseCountError(BadInputError):
    """An eval without cases, or a release with more than the contract allows."""

    slug: ClassVar[str] = "case-count"


class CaseSizeError(BadInputError):
    """A case with more text than a line of a release may hold."""

    slug: ClassVar[str] = "case-size"


class SealError(BadInputError):
    """A sealed release would publish the answers in one of its modules."""

    slug: ClassVar[str] = "seal-leaks"


@dataclass(frozen=True, slots=True)
class Built:
    """A release in a stage."""

    manifest: Manifest
    digest: ReleaseId
    cases_sha256: Digest


def build_release(
    loaded: LoadedBenchmark, tree: SourceTree, pin: Pin, stage: Stage, *, seal_key: bytes | None
) -> Built:
    """Write all files of a release but its provenance to the stage.

    Raises:
        SealError: `seal_key` is given and a module of the release holds cases.
        CaseCountError: An eval has no case, or there are more than 25,000.
    """
    if seal_key is not None:
        faults = seal_faults(loaded.evals)
        if faults:
            raise SealError("the release cannot be sealed", faults=faults)
    entries, files, digests = _write_cases(loaded, stage, seal_key)
    files += _write_modules(loaded, tree, stage)
    manifest = Manifest(
        benchmark=loaded.facts,
        source=SourceFacts(pin.object_format, pin.commit, pin.tree, loaded.config_path),
        evals=tuple(entries),
        files=tuple(sorted(files, key=lambda file: file.path)),
        protocol_version=loaded.protocol_version,
    )
    data = manifest.canonical_bytes()
    # What this build could not read again is no release, whatever let it come so far.
    read_manifest(data)
    with stage.create(MANIFEST) as sink:
        sink.write(data)
    return Built(manifest, release_digest(data), cases_digest(manifest, digests))


def write_provenance(stage: Stage, record: Provenance) -> None:
    """Write `provenance.json`, which no digest covers."""
    with stage.create(PROVENANCE) as sink:
        sink.write(record.canonical_bytes())


def _write_cases(
    loaded: LoadedBenchmark, stage: Stage, seal_key: bytes | None
) -> tuple[list[EvalEntry], list[ReleaseFile], list[Digest]]:
    entries: list[EvalEntry] = []
    digests: list[Digest] = []
    with ExitStack() as open_files:
        public = _Lines(CASES, open_files.enter_context(stage.create(CASES)))
        private = _Lines(PRIVATE, open_files.enter_context(stage.create(PRIVATE)))
        for item in loaded.evals:
            kinds: Counter[str] = Counter()
            for case in _counted(item, len(digests)):
                secret = case.private
                if seal_key is not None:
                    secret = sealed_line(seal_key, item.id, case.id, secret)
                place = f"case {item.id}/{case.id}"
                public.add(case.public, place)
                private.add(secret, place)
                digests.append(case_digest(case.public, secret))
                kinds[case.kind] += 1
            entries.append(_entry(item, kinds))
        return entries, [public.finish(), private.finish()], digests


def _counted(item: LoadedEval, before: int) -> Iterator[CaseLines]:
    """The eval's cases, refused where the contract's limits end."""
    count = before
    for case in item.cases:
        count += 1
        if count > MAX_CASES:
            raise CaseCountError(
                "too many cases", place=item.module.path, expected=f"at most {MAX_CASES} in a release", got="more"
            )
        yield case
    if count == before:
        raise CaseCountError("an eval without cases", place=item.module.path, expected="at least one", got="none")


def _entry(item: LoadedEval, kinds: Counter[str]) -> EvalEntry:
    uses = []
    for kind, cases in sorted(kinds.items()):
        if kind == CUSTOM and item.custom is not None:
            uses.append(EvaluatorUse(CUSTOM_NUMBERED, cases, item.custom.module, item.custom.member))
        else:
            uses.append(EvaluatorUse(kind, cases))
    return EvalEntry(
        id=item.id,
        title=item.title,
        module=item.module,
        form=item.form,
        case_count=sum(kinds.values()),
        evaluators=tuple(uses),
        description=item.description,
        system_prompt=item.system_prompt,
        limits=item.limits,
        tools=item.tools,
        case_file=item.case_file,
        transformer=item.transformer,
    )


def _write_modules(loaded: LoadedBenchmark, tree: SourceTree, stage: Stage) -> list[ReleaseFile]:
    """Every module that a run needs, by its exact bytes."""
    paths = sorted({path for item in loaded.evals for path in item.run_modules})
    tree.prefetch(paths)
    files: list[ReleaseFile] = []
    for path in paths:
        data = tree.read(path)
        with stage.create(MODULES + path) as sink:
            sink.write(data)
        files.append(ReleaseFile(MODULES + path, hashlib.sha256(data).hexdigest(), len(data)))
    return files


class _Lines:
    """One JSONL file while it is written: its bytes in blocks, its digest, its Merkle tree."""

    def __init__(self, path: str, sink: ByteSink) -> None:
        self._path = path
        self._sink = sink
        self._block = bytearray()
        self._digest = hashlib.sha256()
        self._bytes = 0
        self._tree = MerkleTree()

    def add(self, line: bytes, place: str) -> None:
        if len(line) > MAX_LINE_BYTES:
            raise CaseSizeError(
                "a case too large", place=place, expected=f"at most {MAX_LINE_BYTES:,} bytes", got=f"{len(line):,}"
            )
        self._block += line
        self._block += b"\n"
        self._tree.add(line)
        if len(self._block) >= _BLOCK:
            self._flush()

    def finish(self) -> ReleaseFile:
        self._flush()
        return ReleaseFile(
            self._path, self._digest.hexdigest(), self._bytes, lines=len(self._tree), merkle_root=self._tree.root()
        )

    def _flush(self) -> None:
        block = bytes(self._block)
        self._sink.write(block)
        self._digest.update(block)
        self._bytes += len(block)
        self._block.clear()
