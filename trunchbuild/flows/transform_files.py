"""`trunchbuild transform`: one transformer on files of a plain folder, exported with a receipt."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from trunchbuild.core.receipt import ExportFormat
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.files.api import Difference, Files, NewFile
from trunchbuild.effects.folder.api import Folders
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.schemas.api import Schemas
from trunchbuild.errors import CheckedNoError, Fault, UsageError
from trunchbuild.flows.load_cases import CaseCheck
from trunchbuild.flows.read_sources import Source, read_all, read_source
from trunchbuild.flows.transform import run_transformer
from trunchbuild.flows.write_export import export_files, receipt_path


class ExpectationError(CheckedNoError):
    """A source or a count is not what the batch manifest expects; both values are given."""

    slug = "expectation-failed"


class NotAsOnDiskError(CheckedNoError):
    """`--check` found other bytes on disk than this transform makes."""

    slug = "not-as-on-disk"


@dataclass(frozen=True, slots=True)
class TransformTools:
    """The doors that a transform of files needs."""

    files: Files
    folders: Folders
    runtime: Runtime
    schemas: Schemas


@dataclass(frozen=True, slots=True)
class Expectations:
    """What the author says must come out."""

    case_count: int | None = None
    source_sha256: Mapping[str, str] = field(default_factory=dict)
    """Source name -> bare hex."""


@dataclass(frozen=True, slots=True)
class TransformRequest:
    """One transform of files. Paths are absolute."""

    root: Path
    """The repository: imports do not leave it."""
    base: Path
    """The folder that written paths are relative to."""
    transformer: Path
    sources: Mapping[str, Path]
    """In the order in which the transformer sees them."""
    output: Path
    form: ExportFormat
    with_receipt: bool = True
    checked: bool = True
    expected: Expectations = Expectations()


@dataclass(frozen=True, slots=True)
class Export:
    """What a transform made, not yet written."""

    name: str
    """The transformer's."""
    case_count: int
    files: list[NewFile]
    """The export, then the receipt if one is wanted."""


def root_of(transformer: Path, base: Path, files: Files) -> Path:
    """The repository of a transformer: by `.git` or a config above it, else `base`, else the transformer's folder."""
    found = files.repository_root(transformer.parent)
    if found is not None:
        return found
    return base if transformer.is_relative_to(base) else transformer.parent


@contextmanager
def exported(request: TransformRequest, tools: TransformTools) -> Iterator[Export]:
    """Run, check, and give the files to write; their content is readable inside the context only.

    Raises:
        UsageError: The export would replace what it is made from.
        BadInputError: A source, a module or a case is not as it should be; all faults are listed.
        ExpectationError: A source or the count is not the expected one.
        TransformDiffersError: The two runs gave different output.
    """
    _refuse_overwriting(request)
    tree = tools.folders.open(request.root)
    sources = _read_sources(request, tree, tools)
    _expect_sources(request.expected, sources)
    transformer = _from_root(request, request.transformer)
    check = CaseCheck(None, tools.schemas, place=transformer) if request.checked else None
    with run_transformer(tree, transformer, sources, tools.runtime, check) as run:
        _expect_count(request, run.output.count)
        new_files = export_files(
            run,
            output=request.output,
            form=request.form,
            root=request.root,
            base=request.base,
            with_receipt=request.with_receipt,
        )
        yield Export(run.output.name, run.output.count, new_files)


def write_or_compare(new_files: list[NewFile], files: Files, base: Path, *, check: bool) -> None:
    """Write the files; with `check` write nothing and compare with what is on disk.

    Raises:
        NotAsOnDiskError: With `check`, a file differs or is missing; every such file is listed.
    """
    if not check:
        files.replace(new_files)
        return
    differences = files.differences(new_files)
    if differences:
        raise NotAsOnDiskError(
            f"{len(differences)} files are not as on disk",
            faults=[_difference_fault(difference, base) for difference in differences],
        )


def _difference_fault(difference: Difference, base: Path) -> Fault:
    path = posixpath.relpath(str(difference.path), str(base))
    hint = "run without --check to write it"
    if difference.line is None:
        return Fault(path, "is missing", hint=hint)
    return Fault(
        f"{path}:{difference.line}",
        "is not what the transformer gives",
        expected=_quoted(difference.expected),
        got=_quoted(difference.got),
        hint=hint,
    )


def _quoted(text: str) -> str:
    return f"`{text}`" if text else "the end of the file"


def _refuse_overwriting(request: TransformRequest) -> None:
    read = {request.transformer: "the transformer", **{path: f"source `{n}`" for n, path in request.sources.items()}}
    written = [request.output, receipt_path(request.output)] if request.with_receipt else [request.output]
    if any("\ud800" <= character <= "\udfff" for character in str(request.output)):
        # Bytes of a file name that are not UTF-8; the receipt states the name.
        raise UsageError("not a name for an export", place=ascii(str(request.output)), expected="UTF-8")
    for path in written:
        if path in read:
            raise UsageError(f"the export would replace {read[path]}", place=str(path))


def _read_sources(request: TransformRequest, tree: SourceTree, tools: TransformTools) -> list[Source]:
    """Read each source; a file outside the repository, which only a user can name, from its own folder."""

    def read(name: str, path: Path) -> Source:
        shown = _from_root(request, path)
        if not shown.startswith("../"):
            return read_source(tree, name, shown)
        return read_source(tools.folders.open(path.parent), name, path.name).shown_as(shown)

    return read_all(partial(read, name, path) for name, path in request.sources.items())


def _from_root(request: TransformRequest, path: Path) -> str:
    return posixpath.relpath(str(path), str(request.root))


def _expect_sources(expected: Expectations, sources: list[Source]) -> None:
    faults = [
        Fault(
            source.record.file.path,
            f"source `{source.record.name}` is another file",
            f"SHA-256 {expected.source_sha256[source.record.name]}",
            source.record.file.sha256,
        )
        for source in sources
        if expected.source_sha256.get(source.record.name, source.record.file.sha256) != source.record.file.sha256
    ]
    if faults:
        raise ExpectationError("sources are not the expected ones", faults=faults)


def _expect_count(request: TransformRequest, count: int) -> None:
    expected = request.expected.case_count
    if expected is not None and expected != count:
        place = _from_root(request, request.transformer)
        raise ExpectationError("another number of cases", place=place, expected=str(expected), got=str(count))
