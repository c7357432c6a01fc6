"""`trunchbuild transform`: one transformer on files of a plain folder, exported with a receipt."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from trunchbuild.core.receipt import ExportFormat
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.files.api import Difference, Files, NewFile
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.errors import BadInputError, CheckedNoError, Fault, UsageError
from trunchbuild.flows.read_sources import Source, read_all, read_source
from trunchbuild.flows.transform import TransformerRun, run_transformer
from trunchbuild.flows.write_export import export_files, receipt_path

OpenFolder = Callable[[Path], SourceTree]
"""Opens a plain folder as a tree."""


class ExpectationError(CheckedNoError):
    """A source or a count is not what the batch manifest expects; both values are given."""

    slug = "expectation-failed"


class NotAsOnDiskError(CheckedNoError):
    """`--check` found other bytes on disk than this transform makes."""

    slug = "not-as-on-disk"


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
    output: Path
    form: ExportFormat
    with_receipt: bool = True
    checked: bool = True
    expected: Expectations = Expectations()

    def written(self) -> list[Path]:
        """The paths that this transform writes."""
        return [self.output, receipt_path(self.output)] if self.with_receipt else [self.output]


@dataclass(frozen=True, slots=True)
class Export:
    """What a transform made, not yet written."""

    name: str
    """The transformer's."""
    case_count: int
    files: list[NewFile]


@contextmanager
def exported(request: TransformRequest, open_folder: OpenFolder, runtime: Runtime) -> Iterator[Export]:
    """Run, check, and give the files to write; their content is readable inside the context only.

    Raises:
        BadInputError: A source, a module or a case is not as it should be; all faults are listed.
        ExpectationError: A source or the count is not the expected one.
        TransformDiffersError: The two runs gave different output.
    """
    tree = open_folder(request.root)
    sources = _read_sources(request, tree, open_folder)
    _expect_sources(request.expected, sources)
    transformer = _inside(request.transformer, request.root)
    _refuse_overwriting(request)
    with run_transformer(tree, transformer, sources, runtime) as run:
        if request.checked:
            check_output(run)
        _expect_count(request.expected, run.output.count)
        yield Export(
            run.output.name,
            run.output.count,
            export_files(
                run,
                output=request.output,
                form=request.form,
                root=request.root,
                base=request.base,
                with_receipt=request.with_receipt,
            ),
        )


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
            faults=[_fault(difference, base) for difference in differences],
            hint="run without --check to write them",
        )


def _fault(difference: Difference, base: Path) -> Fault:
    path = posixpath.relpath(str(difference.path), str(base))
    if difference.line is None:
        return Fault(path, "is missing")
    return Fault(f"{path}:{difference.line}", "differs from what the transformer gives, from this line on")


def check_output(run: TransformerRun) -> None:
    """Check every returned case.

    Raises:
        InvalidCasesError: All faults, with case and place.
    """
    raise NotImplementedError


def _read_sources(request: TransformRequest, tree: SourceTree, open_folder: OpenFolder) -> list[Source]:
    """Read each source; a file outside the repository, which only a user can name, from its own folder."""

    def read(name: str, path: Path) -> Source:
        shown = posixpath.relpath(str(path), str(request.root))
        if not shown.startswith("../"):
            return read_source(tree, name, shown)
        return read_source(open_folder(path.parent), name, path.name).shown_as(shown)

    return read_all(partial(read, name, path) for name, path in sorted(request.sources.items()))


def _inside(path: Path, root: Path) -> str:
    inner = posixpath.relpath(str(path), str(root))
    if inner == ".." or inner.startswith("../"):
        raise BadInputError("the transformer is outside its repository", place=str(path), expected=f"a path in {root}")
    return inner


def _refuse_overwriting(request: TransformRequest) -> None:
    read = {request.transformer: "the transformer", **{path: f"source `{n}`" for n, path in request.sources.items()}}
    for path in request.written():
        if path in read:
            raise UsageError(f"the output would replace {read[path]}", place=str(path))


def _expect_sources(expected: Expectations, sources: list[Source]) -> None:
    faults = [
        Fault(
            source.record.file.path,
            f"source `{source.record.name}` is not the expected one",
            f"SHA-256 {expected.source_sha256[source.record.name]}",
            source.record.file.sha256,
        )
        for source in sources
        if expected.source_sha256.get(source.record.name, source.record.file.sha256) != source.record.file.sha256
    ]
    if faults:
        raise ExpectationError("sources are not the expected ones", faults=faults)


def _expect_count(expected: Expectations, count: int) -> None:
    if expected.case_count is not None and expected.case_count != count:
        raise ExpectationError("another number of cases", expected=str(expected.case_count), got=str(count))
