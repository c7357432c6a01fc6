"""Checks (7) and (8): build a release again from its commit, and explain what differs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat, zip_longest

from trunchbuild.core.checks import RELEASE_CHECKS, CheckResult, judged, left_open
from trunchbuild.core.loaded import FileRecord
from trunchbuild.core.manifest import CASES, MANIFEST, PRIVATE, Manifest
from trunchbuild.core.release_diff import CasePair, ReleaseDiff, Side, compare
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.toolchain import toolchain_differences
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.git.api import CommitTree
from trunchbuild.effects.store.api import RawFiles, Stage
from trunchbuild.errors import BadInputError, Fault, MachineError, TrunchbuildError
from trunchbuild.flows.build import build_release
from trunchbuild.flows.check_release import ReleaseFindings, raw_lines
from trunchbuild.flows.diff import side_of
from trunchbuild.flows.from_commit import BuildTools
from trunchbuild.flows.load import load_benchmark
from trunchbuild.flows.signature import ONLY_TOLD, SignatureOrder, commit_signature


@dataclass(frozen=True, slots=True)
class RebuildOrder:
    """From where, and with what, a release is built again."""

    address: RepoAddress | None
    """None where neither lock nor provenance nor `--repo` say where the repository is."""
    insecure_http: bool = False
    seal_key: bytes | None = None
    sealed: bool | None = None
    """Whether the release carries salts; None where nothing here says so."""
    recorded: Mapping[str, str] | None = None
    """Versions of what built it, as lock or provenance state them."""
    signature: SignatureOrder = ONLY_TOLD


def check_rebuild(raw: RawFiles, found: ReleaseFindings, order: RebuildOrder, tools: BuildTools) -> list[CheckResult]:
    """Run checks (7) and (8)."""
    manifest = found.manifest
    if manifest is None:
        return _both_open("the manifest cannot be read, so its commit is not known")
    if order.address is None:
        return _both_open("nothing says where the repository is: name it with --repo")
    try:
        with tools.git.open(order.address, manifest.source.commit, insecure_http=order.insecure_http) as tree:
            signature = f"the commit's signature: {commit_signature(tree, order.signature, tools.signatures)}"
            sources = _check_sources(tree, manifest)
            sources = replace(sources, note=_joined(sources.note, signature))
            return [sources, _check_bytes(raw, found, tree, order, tools)]
    except TrunchbuildError as error:
        return _both_open(f"commit {manifest.source.commit} of {order.address}: {error}")


def _both_open(note: str) -> list[CheckResult]:
    return [left_open(number, RELEASE_CHECKS[number], note) for number in (7, 8)]


def _check_sources(tree: CommitTree, manifest: Manifest) -> CheckResult:
    faults: list[Fault] = []
    pin, source = tree.pin, manifest.source
    for name, expected, got in (
        ("commit", source.commit, pin.commit),
        ("tree", source.tree, pin.tree),
        ("object format", source.object_format, pin.object_format),
    ):
        if expected != got:
            faults.append(Fault(name, "differs", expected, got))
    records = dict.fromkeys(_records(manifest))
    tree.prefetch([record.path for record in records])
    for record in records:
        faults += _record_faults(tree, record)
    return judged(7, RELEASE_CHECKS[7], faults, got=None if faults else f"{len(records)} files as listed")


def _records(manifest: Manifest) -> Iterator[FileRecord]:
    for entry in manifest.evals:
        yield entry.module
        if entry.case_file is not None:
            yield entry.case_file
        if entry.transformer is not None:
            yield from entry.transformer.modules
            yield from (source.file for source in entry.transformer.sources)
    for file in manifest.files:
        if file.merkle_root is None:
            yield FileRecord(file.path.removeprefix("modules/"), file.sha256, file.bytes)


def _record_faults(tree: SourceTree, record: FileRecord) -> list[Fault]:
    try:
        data = tree.read(record.path)
    except BadInputError as error:
        return list(error.faults)
    got = hashlib.sha256(data).hexdigest()
    return [] if got == record.sha256 else [Fault(record.path, "SHA-256", record.sha256, got)]


def _check_bytes(
    raw: RawFiles, found: ReleaseFindings, tree: CommitTree, order: RebuildOrder, tools: BuildTools
) -> CheckResult:
    name = RELEASE_CHECKS[8]
    assert found.manifest is not None
    if order.sealed and order.seal_key is None:
        return left_open(8, name, "the release is sealed: rebuilding needs its key, --seal KEYFILE")
    current = tools.runtime.versions().versions
    with tools.store.stage(keep=False) as stage:
        try:
            with load_benchmark(tree, found.manifest.source.config, tools.runtime, tools.schemas) as loaded:
                built = build_release(loaded, tree, tree.pin, stage, seal_key=order.seal_key)
        except MachineError as error:
            return left_open(8, name, str(error))
        except TrunchbuildError as error:
            result = judged(8, name, error.faults, expected=str(found.digest), got="no release")
            return _explained(result, order, current)
        if built.digest == found.digest:
            return _judged_files(raw, found, built.manifest, stage)
        if order.sealed is None and order.seal_key is None and _equal_but_private(found.manifest, built.manifest):
            may_be = f"all is equal but {PRIVATE}, which is withheld: it may be sealed, and then needs --seal KEYFILE"
            return left_open(8, name, may_be)
        difference = _difference(raw, found, stage)
        faults = _difference_faults(difference) if difference else []
        faults = faults or _file_faults(found, built.manifest) or [Fault(MANIFEST, "differs")]
        note = None if difference is None else _counted(difference)
        if difference is not None and difference.only_salts:
            note = "only the salts differ: sealed with another key, or one of the two is not sealed"
        result = judged(8, name, faults, expected=str(found.digest), got=str(built.digest), note=note)
        return _explained(result, order, current)


def _equal_but_private(one: Manifest, other: Manifest) -> bool:
    def rest(manifest: Manifest) -> Manifest:
        return replace(manifest, files=tuple(file for file in manifest.files if file.path != PRIVATE))

    return rest(one) == rest(other)


def _judged_files(raw: RawFiles, found: ReleaseFindings, rebuilt: Manifest, stage: Stage) -> CheckResult:
    """The manifest came out as it is here; what differs then is that files here are not those that it lists."""
    name = RELEASE_CHECKS[8]
    faults = _file_faults(found, rebuilt)
    if not faults:
        return judged(8, name, [], expected=str(found.digest), got=str(found.digest))
    difference = _difference(raw, found, stage)
    if difference is None:
        return judged(8, name, faults)
    return judged(8, name, [*faults, *_difference_faults(difference)], note=_counted(difference))


def _file_faults(found: ReleaseFindings, rebuilt: Manifest) -> list[Fault]:
    """Files whose bytes here are not the rebuilt ones; a withheld file is not compared."""
    return [
        Fault(entry.path, "SHA-256", entry.sha256, found.measured[entry.path].sha256)
        for entry in rebuilt.files
        if entry.path in found.measured and found.measured[entry.path].sha256 != entry.sha256
    ]


def _difference(raw: RawFiles, found: ReleaseFindings, stage: Stage) -> ReleaseDiff | None:
    """Case by case; None where the lines here cannot be read."""
    if found.manifest is None:
        return None
    try:
        return compare(Side(found.manifest, lambda: _raw_pairs(raw, withheld=found.withheld)), side_of(stage.files()))
    except BadInputError:
        return None


def _raw_pairs(raw: RawFiles, *, withheld: bool) -> Iterator[CasePair]:
    if withheld:
        yield from zip(raw_lines(raw, CASES), repeat(None))
        return
    for public, private in zip_longest(raw_lines(raw, CASES), raw_lines(raw, PRIVATE)):
        if public is not None:
            yield public, private


def _difference_faults(difference: ReleaseDiff) -> list[Fault]:
    """The release is what was expected, the rebuilt one what was got."""
    faults = [Fault(f"case {case}", "only in the release", "this case", "none") for case in difference.removed]
    faults += [Fault(f"case {case}", "only in the rebuilt release", "none", "this case") for case in difference.added]
    faults += [Fault(f"case {one.case}", f"differs in {', '.join(one.fields)}") for one in difference.changed]
    if not faults and difference.moved:
        faults += [
            Fault(f"case {case}", "the same cases stand in another order; this is the first")
            for case in difference.moved
        ]
    faults += [Fault(f"{MANIFEST} {one.field}", "differs", one.old, one.new) for one in difference.facts]
    faults += [Fault(one.field, "differs", one.old, one.new) for one in difference.modules]
    return faults


def _explained(result: CheckResult, order: RebuildOrder, current: Mapping[str, str]) -> CheckResult:
    """A difference is a no, unless other versions than the recorded ones could have made it."""
    if order.recorded is None:
        return replace(result, note=_joined(result.note, "nothing records the versions that built the release"))
    other = toolchain_differences(order.recorded, current)
    return replace(result, outcome="open", note=_joined(result.note, *other)) if other else result


def _counted(difference: ReleaseDiff) -> str:
    if difference.same_cases:
        return "the cases are the same"
    return (
        f"{len(difference.removed)} cases removed, {len(difference.added)} added, {len(difference.changed)} changed, "
        f"{difference.unchanged} unchanged"
    )


def _joined(*notes: str | None) -> str:
    return "; ".join(note for note in notes if note)
