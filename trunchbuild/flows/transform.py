"""Run one transformer over its named sources: what comes out, and what is recorded of how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trunchbuild.core.json_types import Json
from trunchbuild.core.loaded import FileRecord, TransformerRecord
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.strict_json import read_json_lines
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import Runtime, Transformed
from trunchbuild.flows.modules import load_graph
from trunchbuild.flows.read_sources import Source, file_record


@dataclass(frozen=True, slots=True)
class TransformerRun:
    """What both confined runs gave. A context manager: leaving it closes the output."""

    record: TransformerRecord
    output: Transformed

    def __enter__(self) -> TransformerRun:
        return self

    def __exit__(self, *_ending: object) -> None:
        self.output.jsonl.close()

    def lines(self) -> Iterator[bytes]:
        """The output's JSON lines with their line feeds, from the first; may be read again."""
        self.output.jsonl.seek(0)
        yield from self.output.jsonl

    def placed(self) -> Iterator[tuple[str, Json]]:
        """The returned cases in order, each with its place: the transformer and a pointer into what it returned."""
        for line, value in read_json_lines(self.lines(), self.record.path):
            yield f"{self.record.path} /{line - 1}", value


def run_transformer(tree: SourceTree, transformer: str, sources: Sequence[Source], runtime: Runtime) -> TransformerRun:
    """Read the module graph, run the transformer twice, and say what its output was made from.

    Raises:
        BadInputError: A module cannot be read, or uses what is refused.
        TransformDiffersError: The two runs gave different output.
        GuestError: It threw, or returned what is no list of JSON objects.
    """
    graph = load_graph(tree, transformer, runtime)
    output = runtime.transform(graph, {source.record.name: source.text for source in sources})
    record = TransformerRecord(
        name=output.name,
        path=transformer,
        modules=module_records(tree, graph),
        sources=tuple(source.record for source in sources),
    )
    return TransformerRun(record, output)


def module_records(tree: SourceTree, graph: ModuleGraph) -> tuple[FileRecord, ...]:
    """What is recorded of every module of a graph, sorted by path."""
    return tuple(file_record(path, tree.read(path)) for path in sorted(graph.modules))
