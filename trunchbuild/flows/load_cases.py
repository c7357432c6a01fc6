"""The cases of all evals, from where each eval says they are; checked, and read again when they are written.

Cases are streamed twice, once to check and once to write, so that memory does not grow with their number: a release may
hold 25,000 cases of 20 KB each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from trunchbuild.core.cases import CaseChecker, case_lines
from trunchbuild.core.eval_module import CaseFile, EvalDefinition, TransformerCases
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
from trunchbuild.flows.transform import PlacedCase, run_transformer


@dataclass(frozen=True, slots=True)
class EvalCases:
    """The checked cases of one eval, and what is recorded of where they came from."""

    lines: Iterable[CaseLines]
    """May be read again."""
    file: FileRecord | None = None
    transformer: TransformerRecord | None = None
    lint: tuple[Fault, ...] = ()


class CaseCheck:
    """Checks the cases of one eval while they stream by; with a day lint looks at them too."""

    def __init__(
        self,
        definition: EvalDefinition | None,
        schemas: Schemas,
        *,
        place: str,
        already: int = 0,
        today: date | None = None,
    ) -> None:
        self._checker = CaseChecker(definition, partial(schemas.read, "case"), already=already)
        self._lint = None if definition is None or today is None else CaseLint(definition, today)
        self._place = place

    @property
    def count(self) -> int:
        """How many cases there were."""
        return self._checker.count

    @property
    def findings(self) -> tuple[Fault, ...]:
        """What lint found."""
        return () if self._lint is None else tuple(self._lint.warnings())

    def __call__(self, cases: Iterable[PlacedCase]) -> None:
        """Check all.

        Raises:
            InvalidCasesError: There are faults (all are listed), no case, or one too many.
        """
        for where, value in cases:
            case = self._checker.check(where, value)
            if self._lint is not None and case is not None:
                self._lint.look(where, case)
            if self._checker.is_full():
                break
        self._checker.finish(self._place)


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
            place = _place(definition)
            check = CaseCheck(definition, schemas, place=place, already=count, today=today)
            cases = _checked(definition, tree, runtime, check, open_files)
            count += check.count
            loaded.append(replace(cases, lint=check.findings))
    refusals.tell("the cases")
    return loaded


def _place(definition: EvalDefinition) -> str:
    """The file that a fault of the whole list is told of."""
    origin = definition.cases
    if isinstance(origin, TransformerCases):
        return origin.transformer
    return origin.path if isinstance(origin, CaseFile) else definition.path


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


def _checked(
    definition: EvalDefinition, tree: SourceTree, runtime: Runtime, check: CaseCheck, open_files: ExitStack
) -> EvalCases:
    origin = definition.cases
    if isinstance(origin, TransformerCases):
        sources = read_sources(tree, origin.sources)
        run = open_files.enter_context(run_transformer(tree, origin.transformer, sources, runtime, check))
        return EvalCases(_Lines(definition, run.placed), transformer=run.record)
    record = None
    if isinstance(origin, CaseFile):
        data = tree.read(origin.path)
        record = file_record(origin.path, data)
        values = _file_values(origin.path, data)
    else:
        values = partial(_placed, f"{definition.path} /cases/", origin.values)
    check(values())
    return EvalCases(_Lines(definition, values), file=record)


def _file_values(path: str, data: bytes) -> Callable[[], Iterator[PlacedCase]]:
    if path.endswith(".jsonl"):
        return partial(_jsonl_values, path, data)
    value = read_json(data, path)
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise BadInputError("not a list of cases", place=path, expected="an array", got=kind_of(value))
    return partial(_placed, f"{path} /", value)


def _jsonl_values(path: str, data: bytes) -> Iterator[PlacedCase]:
    for line, value in read_jsonl(data, path):
        yield f"{path}:{line}", value


def _placed(array: str, values: Sequence[Json]) -> Iterator[PlacedCase]:
    """Cases of one array; `array` is its place, a JSON pointer that ends in a slash."""
    for index, value in enumerate(values):
        yield f"{array}{index}", value


class _Lines:
    """The two lines of each case, made while they are read."""

    def __init__(self, definition: EvalDefinition, values: Callable[[], Iterator[PlacedCase]]) -> None:
        self._definition = definition
        self._values = values

    def __iter__(self) -> Iterator[CaseLines]:
        for _, value in self._values():
            assert isinstance(value, Mapping)
            yield case_lines(value, self._definition)
