"""JavaScript and TypeScript in Node, inside the sandbox."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import importlib.util
import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from trunchbuild.core import policy
from trunchbuild.core.confinement import Limits, Sandbox
from trunchbuild.core.javascript_parser import Unreadable, tree_of_nodes
from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import Module, ModuleGraph
from trunchbuild.core.places import Places
from trunchbuild.core.policy import nested_too_deeply, survey_module, survey_tree, unreadable
from trunchbuild.core.resolve import TYPESCRIPT
from trunchbuild.core.strict_json import read_json_lines
from trunchbuild.core.survey import Survey
from trunchbuild.effects.runtime._explain import explain_cases, explain_loaded
from trunchbuild.effects.runtime._node_layout import ELSEWHERE, ENVIRONMENT, node_program, node_request
from trunchbuild.effects.runtime._node_places import missing_export, with_places, with_stack
from trunchbuild.effects.runtime._node_requests import graph_json, line
from trunchbuild.effects.runtime._survey_cache import SurveyCache
from trunchbuild.effects.runtime._two_runs import (
    ANOTHER_FORM,
    Answer,
    Explain,
    GuestRun,
    Header,
    HeldBack,
    failure_of,
    guest_input,
    run_once,
    run_twice,
    transformed,
)
from trunchbuild.effects.runtime.api import (
    EvaluatorCall,
    EvaluatorOutcome,
    GuestError,
    LoadedModule,
    Look,
    RuntimeVersions,
    SourceText,
    Transformed,
)
from trunchbuild.errors import Fault, TrunchbuildError

_DEEP_STACK = "--stack-size=3900"
"""KiB. Linux gives the first thread of a process 8 MiB (getrlimit(2), RLIMIT_STACK) unless told otherwise."""


class NodeRuntime:
    """Runs modules of the language `javascript`; a `Runtime` for those graphs."""

    def __init__(
        self, sandbox: Sandbox, cache: Path | None, limits: Limits | None = None, *, elsewhere: bool = False
    ) -> None:
        """`cache` is a folder for what reading modules gave; None keeps nothing.

        `elsewhere` runs modules under another locale and time zone than releases are built under.
        """
        self._environment = ELSEWHERE if elsewhere else ENVIRONMENT
        self._sandbox = sandbox
        self._limits = limits or Limits()
        self._cache_folder = cache
        self._cache: SurveyCache | None = None
        self._versions: RuntimeVersions | None = None

    def strip(self, sources: Mapping[str, str]) -> Mapping[str, str | Fault]:
        """See `Runtime`."""
        return {
            path: answer["text"] if "text" in answer else _no_typescript(path, sources[path], answer).findings[0].fault
            for path, answer in self._strip(sources).items()
        }

    def survey(self, sources: Mapping[str, str]) -> Mapping[str, Survey]:
        """See `Runtime`."""
        cache = self._surveys()
        found = {path: known for path, text in sources.items() if (known := cache.get(path, text)) is not None}
        unknown = {path: text for path, text in sources.items() if path not in found}
        if unknown:
            with _parser_arriving():
                plain = self._plain(unknown)
            for path, text in plain.items():
                found[path] = self._read(path, text, sources[path]) if isinstance(text, str) else text
                cache.put(path, sources[path], found[path])
        return {path: found[path] for path in sources}

    def load(self, graphs: Iterable[ModuleGraph]) -> list[LoadedModule]:
        """See `Runtime`."""
        listed = list(graphs)
        request: dict[str, Json] = {"mode": "load", "graphs": [graph_json(graph) for graph in listed]}
        answer = self._twice(listed, request, [], explain_loaded([graph.entry for graph in listed]))
        with answer.body as body:
            return loaded_modules(body, len(listed))

    def transform(self, graph: ModuleGraph, sources: Mapping[str, SourceText], look: Look | None = None) -> Transformed:
        """See `Runtime`."""
        contents = [source.content.encode() for source in sources.values()]
        listed: list[Json] = [
            {"name": name, "path": source.path, "sha256": source.sha256, "bytes": len(content)}
            for (name, source), content in zip(sources.items(), contents, strict=True)
        ]
        request: dict[str, Json] = {"mode": "transform", "graph": graph_json(graph), "sources": listed}
        held_back = HeldBack(look)
        answer = self._twice([graph], request, contents, partial(explain_cases, graph.entry), held_back)
        held_back.tell(answer)
        return transformed(answer, graph.entry)

    def evaluate(self, graph: ModuleGraph, member: str, calls: Iterable[EvaluatorCall]) -> Iterator[EvaluatorOutcome]:
        """See `Runtime`."""
        from trunchbuild.effects.runtime._node_evaluate import evaluate  # noqa: PLC0415 - only graders call it

        return evaluate(self._sandbox, self._limits, graph, member, calls)

    def versions(self) -> RuntimeVersions:
        """See `Runtime`."""
        if self._versions is None:
            fields = self._ask({"mode": "versions"}).fields
            versions = fields["versions"]
            assert isinstance(versions, Mapping)
            wanted = ("node", "v8", "icu", "unicode", "cldr", "tz")
            self._versions = RuntimeVersions({name: str(versions[name]) for name in wanted if name in versions})
        return self._versions

    # ---- one run, two runs ----

    def _twice(
        self,
        graphs: Sequence[ModuleGraph],
        request: dict[str, Json],
        contents: Sequence[bytes],
        explain: Explain,
        held_back: HeldBack | None = None,
    ) -> Answer:
        """Run under both conditions; a failure comes with the author's line."""
        head = line(request) + b"\n"
        with guest_input(head, *contents) as first, guest_input(head, *contents) as second:
            place, about = self._environment, _named([graph.entry for graph in graphs])
            runs = (
                GuestRun(node_request(self._limits, 0, environment=place), first, about),
                GuestRun(node_request(self._limits, 1, environment=place), second, about),
            )
            try:
                return run_twice(self._sandbox, runs, explain, held_back)
            except TrunchbuildError as error:
                raise with_places(
                    error, graphs, lambda: self._again(with_stack(request), contents), self._faults
                ) from None

    def _again(self, request: dict[str, Json], contents: Sequence[bytes]) -> Header | None:
        with guest_input(line(request) + b"\n", *contents) as stdin:
            answer = run_once(self._sandbox, GuestRun(node_request(self._limits), stdin))
        answer.body.close()
        return answer.header

    def _ask(self, request: dict[str, Json], *flags: str, about: str = "") -> _Reply:
        """One run of a trusted mode over the author's files `about`."""
        with guest_input(line(request) + b"\n") as stdin:
            run = GuestRun(node_request(self._limits, more_flags=flags), stdin, about)
            answer = run_once(self._sandbox, run)
        with answer.body as body:
            if not answer.ok:
                raise failure_of(answer, run)
            assert answer.header is not None
            text = body.read()
        return _Reply(answer.header.fields, json.loads(text) if text else None)

    # ---- reading modules ----

    def _plain(self, sources: Mapping[str, str]) -> dict[str, str | Survey]:
        """JavaScript for every module, or what is wrong with its TypeScript."""
        plain: dict[str, str | Survey] = dict(sources)
        typed = {path: text for path, text in sources.items() if path.endswith(TYPESCRIPT)}
        if typed:
            for path, answer in self._strip(typed).items():
                plain[path] = answer["text"] if "text" in answer else _no_typescript(path, typed[path], answer)
        return plain

    def _strip(self, sources: Mapping[str, str]) -> dict[str, dict[str, str]]:
        answers: dict[str, dict[str, str]] = self._ask(
            {"mode": "strip", "sources": dict(sources)}, about=_named(list(sources))
        ).body
        return answers

    def _read(self, path: str, text: str, source: str) -> Survey:
        """Read one module; what esprima2 cannot read is parsed by Node's own parser, in the sandbox."""
        try:
            with _without_collection():
                return survey_module(path, text, source)
        except RecursionError:
            return nested_too_deeply(path, source)
        except Unreadable:
            answer = self._parsed(path, text)
            if "offset" in answer:
                return self._unreadable(path, text, source, answer)
            with contextlib.suppress(RecursionError):
                if "nodes" in answer:
                    return survey_tree(path, tree_of_nodes(text, answer["nodes"]), source)
            return nested_too_deeply(path, source)

    def _unreadable(self, path: str, text: str, source: str, answer: Mapping[str, Any]) -> Survey:
        """What Node's own parser said, with the author's place; its offset is in UTF-16 units."""
        place = Places(text, source).of_unit(int(answer["offset"]))
        return unreadable(path, source, str(answer["message"]), *place)

    def _parsed(self, path: str, text: str) -> Any:
        """The answer of Node's own parser; where its stack is used up, once more with most of what a process has."""
        request: dict[str, Json] = {"mode": "parse", "text": text}
        answer = self._ask(request, "--expose-internals", about=path).body
        if "nodes" in answer or "offset" in answer:
            return answer
        try:
            return self._ask(request, "--expose-internals", _DEEP_STACK, about=path).body
        except GuestError:
            # Where the user's limits leave a process less stack than that.
            return answer

    def _faults(self, module: Module, header: Header) -> Iterator[Fault]:
        """Where in one module lies what V8 said of all: it keeps the place of syntax and link errors to itself."""
        path, text, source = module.path, module.text, module.source or module.text
        if header.status == "syntax":
            answer = self._parsed(path, text)
            if "offset" in answer:
                yield self._unreadable(path, text, source, answer).findings[0].fault
        elif header.status == "link":
            yield from missing_export(path, self._read(path, text, source), str(header.fields.get("message")))

    def _surveys(self) -> SurveyCache:
        if self._cache is None:
            program = node_program().stat()
            rules = hashlib.sha256(_rules()).hexdigest()
            versions = f"{program.st_size} {program.st_mtime_ns} {rules}"
            self._cache = SurveyCache(self._cache_folder, versions)
        return self._cache


@dataclass(frozen=True, slots=True)
class _Reply:
    """A header's members, and the JSON document that followed."""

    fields: Mapping[str, Json]
    body: Any


def _named(paths: Sequence[str]) -> str:
    """The files of one run, for a message."""
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def _no_typescript(path: str, source: str, answer: Mapping[str, Any]) -> Survey:
    """What the stripper of types said: a place in the author's text, or that the nesting was too deep."""
    if "line" not in answer:
        return nested_too_deeply(path, source)
    return unreadable(path, source, str(answer["message"]), int(answer["line"]), int(answer["column"]))


def loaded_modules(body: IO[bytes], count: int) -> list[LoadedModule]:
    """What loading `count` modules gave.

    Raises:
        GuestError: It is not that.
    """
    loaded = [_loaded(value) for _, value in read_json_lines(body, "answer of the runner")]
    if len(loaded) != count:
        raise GuestError(ANOTHER_FORM, expected=f"{count} modules", got=f"{len(loaded)}")
    return loaded


def _loaded(value: Json) -> LoadedModule:
    match value:
        case {"value": inner, "functions": list(functions)}:
            return LoadedModule(inner, frozenset(str(pointer) for pointer in functions))
    raise GuestError(ANOTHER_FORM, expected="a module's value and functions")


def _rules() -> bytes:
    """The rules by which modules are read: an entry of the cache is worth nothing under others."""
    folder = Path(policy.__file__).parent
    names = (
        *("policy.py", "module_scopes.py", "refused_globals.py", "source_map.py"),
        *("fast_esprima.py", "javascript_parser.py", "places.py", "survey.py"),
    )
    parser = importlib.util.find_spec("esprima")
    assert parser is not None
    assert parser.origin is not None
    installed = Path(parser.origin).stat().st_mtime_ns
    return b"".join((folder / name).read_bytes() for name in names) + str(installed).encode()


@contextlib.contextmanager
def _parser_arriving() -> Iterator[None]:
    """Import the parser (100 ms) while another process strips types."""
    thread = threading.Thread(target=importlib.import_module, args=("trunchbuild.core.fast_esprima",), daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """A syntax tree holds no garbage, and looking for some while it grows takes as long as parsing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
