"""Run one transformer over its named sources: what comes out, and what is recorded of how it was made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from trunchbuild.core.json_types import Json
from trunchbuild.core.loaded import FileRecord, TransformerRecord
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.strict_json import read_json_lines
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import GuestError, Runtime, Transformed
from trunchbuild.flows.modules import load_graph
from trunchbuild.flows.read_sources import Source, file_record

PlacedCase: TypeAlias = tuple[str, Json]
"""Where a case stands (for a transformer: a pointer into what it returned), and the case; not yet checked."""

# What V8 and Python say where a source's member is read of a name that is none.
_OF_A_SOURCE = re.compile(
    r"TypeError: Cannot read properties of undefined \(reading '(?:content|path|sha256)'\)|KeyError: "
    r"|TypeError: Cannot destructure property '(?:content|path|sha256)' of"
)

LookAtCases: TypeAlias = Callable[[Iterable[PlacedCase]], None]


@dataclass(frozen=True, slots=True)
class TransformerRun:
    """What both confined runs gave. A context manager: leaving it closes the output."""

    record: TransformerRecord
    output: Transformed

    def __enter__(self) -> TransformerRun:
        return self

    def __exit__(self, *_ending: object) -> None:
        self.output.jsonl.close()

    def placed(self) -> Iterator[PlacedCase]:
        """The returned cases from the first; may be read again."""
        self.output.jsonl.seek(0)
        return _placed(self.output.jsonl, self.record.path)


def run_transformer(
    tree: SourceTree, transformer: str, sources: Sequence[Source], runtime: Runtime, look: LookAtCases | None = None
) -> TransformerRun:
    """Read the module graph, run the transformer twice, and say what its output was made from.

    The transformer sees the sources in the order given; the record lists them by name.

    `look` sees the first run's cases while the second still runs; what it raises is raised once both are equal.

    Raises:
        BadInputError: A module cannot be read, or uses what is refused.
        TransformDiffersError: The two runs gave different output.
        GuestError: It threw, or returned what is no list of JSON objects.
    """
    graph = load_graph(tree, transformer, runtime)
    texts = {source.record.name: source.text for source in sources}
    try:
        output = runtime.transform(
            graph, texts, None if look is None else lambda file: look(_placed(file, transformer))
        )
    except GuestError as error:
        raise _naming_sources(error, texts) from None
    record = TransformerRecord(
        name=output.name,
        path=transformer,
        modules=module_records(tree, graph),
        sources=tuple(sorted((source.record for source in sources), key=lambda record: record.name)),
    )
    return TransformerRun(record, output)


def _naming_sources(error: GuestError, names: Iterable[str]) -> GuestError:
    """The error; where it looks like a source by a name that is none, with the names that there are."""
    [fault, *others] = error.faults
    if others or fault.hint or not _OF_A_SOURCE.match(fault.message):
        return error
    hint = f"the sources' names are {', '.join(f'`{name}`' for name in sorted(names))}"
    return type(error)(error.message, faults=[replace(fault, hint=hint)])


def module_records(tree: SourceTree, graph: ModuleGraph) -> tuple[FileRecord, ...]:
    """What is recorded of every module of a graph, sorted by path."""
    return tuple(file_record(path, tree.read(path)) for path in sorted(graph.modules))


def _placed(lines: Iterable[bytes], transformer: str) -> Iterator[PlacedCase]:
    for line, value in read_json_lines(lines, transformer):
        yield f"{transformer} /{line - 1}", value
