"""The cases of all evals, from where each eval says they are; checked, and read again when they are written.

Cases are streamed twice, once to check and once to write, so that memory does not grow with their number: a release may
hold 25,000 cases of 20 KB each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from functools import partial

from trunchbuild.core.cases import CaseChecker, case_lines
from trunchbuild.core.eval_module import CaseFile, EvalDefinition, InlineCases, TransformerCases
from trunchbuild.core.fields import kind_of
from trunchbuild.core.json_types import Json
from trunchbuild.core.lint import CaseLint
from trunchbuild.core.loaded import CaseLines, FileRecord, TransformerRecord
from trunchbuild.core.strict_json import read_json, read_jsonl
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.schemas.api import Schemas
from trunchbuild.errors import BadInputError, Fault
from trunchbuild.flows.read_sources import file_record, read_sources
from trunchbuild.flows.refusals import Refusals
from trunchbuild.flows.transform import run_transformer

Placed = tuple[str, Json]
"""Where a case stands, and the case."""


@dataclass(frozen=True, slots=True)
class EvalCases:
    """The checked cases of one eval, and what is recorded of where they came from."""

    lines: Iterable[CaseLines]
    """May be read again."""
    file: FileRecord | None = None
    transformer: TransformerRecord | None = None
    lint: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class _Origin:
    """Cases not yet checked."""

    place: str
    values: Callable[[], Iterator[Placed]]
    file: FileRecord | None = None
    transformer: TransformerRecord | None = None


def load_cases(
    definitions: Sequence[EvalDefinition],
    tree: SourceTree,
    runtime: Runtime,
    schemas: Schemas,
    open_files: ExitStack,
    *,
    today: date | None = None,
) -> list[EvalCases]:
    """Read and check the cases of every eval, in order; `open_files` ends what they are read from.

    With `today` lint looks at them too.

    Raises:
        BadInputError: Cases or what makes them do not follow the contract; the faults of all evals are listed.
        TransformDiffersError: Two runs of a transformer gave different output.
    """
    _announce(definitions, tree)
    refusals = Refusals()
    loaded: list[EvalCases] = []
    count = 0
    for definition in definitions:
        with refusals.gather():
            origin = _origin(definition, tree, runtime, open_files)
            lint = None if today is None else CaseLint(definition, today)
            count += check_placed(origin.values(), definition, schemas, place=origin.place, already=count, lint=lint)
            findings = () if lint is None else tuple(lint.warnings())
            loaded.append(EvalCases(_Lines(definition, origin.values), origin.file, origin.transformer, findings))
    refusals.tell("the cases")
    return loaded


def check_placed(
    values: Iterable[Placed],
    definition: EvalDefinition | None,
    schemas: Schemas,
    *,
    place: str,
    already: int = 0,
    lint: CaseLint | None = None,
) -> int:
    """Check cases while they stream by; how many there were.

    Raises:
        InvalidCasesError: There are faults (all are listed), no case, or one too many.
    """
    checker = CaseChecker(definition, partial(schemas.read, "case"), already=already)
    for where, value in values:
        case = checker.check(where, value)
        if lint is not None and case is not None:
            lint.look(where, case)
        if checker.is_full():
            break
    checker.finish(place)
    return checker.count


def _announce(definitions: Iterable[EvalDefinition], tree: SourceTree) -> None:
    """Tell the tree all files at once, so that a remote repository is asked once."""
    wanted: list[str] = []
    for definition in definitions:
        origin = definition.cases
        if isinstance(origin, CaseFile):
            wanted.append(origin.path)
        elif isinstance(origin, TransformerCases):
            wanted += [origin.transformer, *origin.sources.values()]
    tree.prefetch(wanted)


def _origin(definition: EvalDefinition, tree: SourceTree, runtime: Runtime, open_files: ExitStack) -> _Origin:
    origin = definition.cases
    if isinstance(origin, InlineCases):
        return _Origin(definition.path, partial(_placed, f"{definition.path} /cases/", origin.values))
    if isinstance(origin, CaseFile):
        data = tree.read(origin.path)
        return _Origin(origin.path, _file_values(origin.path, data), file=file_record(origin.path, data))
    sources = read_sources(tree, origin.sources)
    run = open_files.enter_context(run_transformer(tree, origin.transformer, sources, runtime))
    return _Origin(origin.transformer, run.placed, transformer=run.record)


def _file_values(path: str, data: bytes) -> Callable[[], Iterator[Placed]]:
    if path.endswith(".jsonl"):
        return partial(_jsonl_values, path, data)
    value = read_json(data, path)
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise BadInputError("not a list of cases", place=path, expected="an array", got=kind_of(value))
    return partial(_placed, f"{path} /", value)


def _jsonl_values(path: str, data: bytes) -> Iterator[Placed]:
    for line, value in read_jsonl(data, path):
        yield f"{path}:{line}", value


def _placed(array: str, values: Sequence[Json]) -> Iterator[Placed]:
    """Cases of one array; `array` is its place, a JSON pointer that ends in a slash."""
    for index, value in enumerate(values):
        yield f"{array}{index}", value


class _Lines:
    """The two lines of each case, made while they are read."""

    def __init__(self, definition: EvalDefinition, values: Callable[[], Iterator[Placed]]) -> None:
        self._definition = definition
        self._values = values

    def __iter__(self) -> Iterator[CaseLines]:
        for _, value in self._values():
            assert isinstance(value, Mapping)
            yield case_lines(value, self._definition)
