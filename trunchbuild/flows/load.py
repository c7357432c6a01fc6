"""Load a benchmark: config, eval modules, tools, evaluators, cases; everything is checked, nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import date
from typing import ClassVar

from trunchbuild.core.benchmark import BenchmarkConfig, InvalidBenchmarkError, parse_config
from trunchbuild.core.case_settings import Tool
from trunchbuild.core.config_choice import choose_config
from trunchbuild.core.eval_module import CaseFile, EvalDefinition, TransformerCases, check_distinct, parse_eval
from trunchbuild.core.lint import lint_config
from trunchbuild.core.loaded import CustomEvaluator, LoadedBenchmark, LoadedEval
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.tool_module import parse_tool
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import LoadedModule, Runtime
from trunchbuild.effects.schemas.api import Schemas
from trunchbuild.errors import BadInputError
from trunchbuild.flows.load_cases import EvalCases, load_cases
from trunchbuild.flows.modules import load_graph
from trunchbuild.flows.read_ahead import read_ahead
from trunchbuild.flows.read_sources import file_record
from trunchbuild.flows.refusals import Refusals


class LintError(BadInputError):
    """With `--strict`: the benchmark holds what its author probably does not want."""

    slug: ClassVar[str] = "lint"


@contextmanager
def load_benchmark(
    tree: SourceTree,
    config: str | None,
    runtime: Runtime,
    schemas: Schemas,
    *,
    today: date | None = None,
    strict: bool = False,
) -> Iterator[LoadedBenchmark]:
    """Load the benchmark whose config is `config`, or the one at the root; cases can be read inside the context only.

    Lint needs to know what day it is; without `today` there is none.

    Raises:
        ConfigNotChosenError: None or several configs, and none named.
        BadInputError: Files, modules or cases do not follow the contract; all faults of one stage are listed.
        LintError: Lint found something, and `strict` makes an error of it.
        TransformDiffersError: Two runs of a module gave different output.
    """
    path = choose_config(tree, config)
    modules = Modules(tree, runtime)
    declared = _read_config(path, modules)
    definitions = _read_evals(declared, modules)
    tools = _read_tools(definitions, modules)
    definitions = _check_evaluators(definitions, modules)
    with ExitStack() as open_files:
        cases = load_cases(definitions, tree, runtime, schemas, open_files, today=today)
        lint = lint_config(declared) if today is not None else []
        lint += [fault for loaded in cases for fault in loaded.lint]
        if strict and lint:
            raise LintError(f"lint: {len(lint)} findings", faults=lint)
        yield LoadedBenchmark(
            protocol_version=declared.protocol_version,
            config_path=path,
            facts=declared.facts,
            evals=tuple(
                _loaded(definition, tools, loaded, modules)
                for definition, loaded in zip(definitions, cases, strict=True)
            ),
            warnings=tuple(map(str, lint)),
        )


class Modules:
    """The modules of one benchmark that are looked at as data: their graphs, and what they export."""

    def __init__(self, tree: SourceTree, runtime: Runtime) -> None:
        self.tree = tree
        self._runtime = runtime
        self._graphs: dict[str, ModuleGraph] = {}
        self._loaded: dict[str, LoadedModule] = {}

    def graph(self, path: str) -> ModuleGraph:
        """The module and all that it imports.

        Raises:
            BadInputError: A module is missing, cannot be read, or uses what is refused.
        """
        if path not in self._graphs:
            self._graphs[path] = load_graph(self.tree, path, self._runtime)
        return self._graphs[path]

    def load(self, paths: Iterable[str]) -> Mapping[str, LoadedModule]:
        """The default exports of modules, in one run; every module that is refused is listed.

        Raises:
            BadInputError: At least one is refused.
        """
        wanted = list(dict.fromkeys(paths))
        read_ahead(self.tree, [path for path in wanted if path not in self._graphs], self._runtime)
        refusals = Refusals()
        graphs: list[ModuleGraph] = []
        for path in wanted:
            if path not in self._loaded:
                with refusals.gather():
                    graphs.append(self.graph(path))
        refusals.tell("the modules")
        loaded = self._runtime.load(graphs) if graphs else []
        self._loaded.update(zip((graph.entry for graph in graphs), loaded, strict=True))
        return {path: self._loaded[path] for path in wanted}


def _read_config(path: str, modules: Modules) -> BenchmarkConfig:
    if path.endswith(".json"):
        return parse_config(read_json(modules.tree.read(path), path), path)
    module = modules.load([path])[path]
    return parse_config(module.value, path, module.functions)


def _read_evals(config: BenchmarkConfig, modules: Modules) -> list[EvalDefinition]:
    loaded = modules.load(config.evals)
    definitions: list[EvalDefinition] = []
    refusals = Refusals()
    for path, module in loaded.items():
        with refusals.gather():
            definitions.append(parse_eval(module.value, module.functions, path, config))
    refusals.tell("the evals")
    check_distinct(definitions)
    return definitions


def _read_tools(definitions: Sequence[EvalDefinition], modules: Modules) -> Mapping[str, Tool]:
    """The tools that are modules, by path."""
    paths = [tool.module for definition in definitions for tool in definition.tools.values() if tool.module is not None]
    tools: dict[str, Tool] = {}
    refusals = Refusals()
    for path, module in modules.load(paths).items():
        with refusals.gather():
            tools[path] = parse_tool(module.value, module.functions, path)
    refusals.tell("the tools")
    return tools


def _check_evaluators(definitions: Sequence[EvalDefinition], modules: Modules) -> list[EvalDefinition]:
    """Find the function behind each `{kind: custom}`; of a named export, that there is one: a call finds the rest."""
    named = {
        definition.evaluate.module
        for definition in definitions
        if isinstance(definition.evaluate, CustomEvaluator) and definition.evaluate.member == "default"
    }
    loaded = modules.load(sorted(named))
    refusals = Refusals()
    checked: list[EvalDefinition] = []
    for definition in definitions:
        custom = definition.evaluate
        if not isinstance(custom, CustomEvaluator) or custom.member == "default.evaluate":
            checked.append(definition)
            continue
        with refusals.gather():
            if custom.member != "default":
                exports = modules.graph(custom.module).exports
                if exports is not None and custom.member not in exports:
                    raise _no_evaluator(custom, definition.path, exports)
                checked.append(definition)
                continue
            member = _function_of(custom, loaded[custom.module], definition.path)
            checked.append(replace(definition, evaluate=CustomEvaluator(custom.module, member)))
    refusals.tell("the evaluators")
    return checked


def _function_of(custom: CustomEvaluator, module: LoadedModule, eval_path: str) -> str:
    if "" in module.functions:
        return custom.member
    if "/evaluate" in module.functions:
        return f"{custom.member}.evaluate"
    raise _no_evaluator(custom, eval_path)


def _no_evaluator(custom: CustomEvaluator, eval_path: str, exports: Iterable[str] = ()) -> InvalidBenchmarkError:
    return InvalidBenchmarkError(
        "the evaluator's module exports no evaluator by that name",
        place=custom.module,
        expected=f"export `{custom.member}`: a function, or an object with a function `evaluate`",
        got=", ".join(f"`{name}`" for name in sorted(exports)) or None,
        hint=f"{eval_path} names it",
    )


def _loaded(definition: EvalDefinition, tools: Mapping[str, Tool], cases: EvalCases, modules: Modules) -> LoadedEval:
    custom = definition.evaluate if isinstance(definition.evaluate, CustomEvaluator) else None
    entries = [tool.module for tool in definition.tools.values() if tool.module is not None]
    if custom is not None:
        entries.append(custom.module)
    run_modules = {path for entry in entries for path in modules.graph(entry).modules}
    origin = definition.cases
    return LoadedEval(
        id=definition.id,
        title=definition.title,
        module=file_record(definition.path, modules.tree.read(definition.path)),
        form="file"
        if isinstance(origin, CaseFile)
        else "transformer"
        if isinstance(origin, TransformerCases)
        else "inline",
        cases=cases.lines,
        description=definition.description,
        system_prompt=definition.system_prompt,
        limits=definition.limits,
        tools=_tools(definition, tools) or None,
        custom=custom,
        case_file=cases.file,
        transformer=cases.transformer,
        run_modules=tuple(sorted(run_modules)),
    )


def _tools(definition: EvalDefinition, modules: Mapping[str, Tool]) -> dict[str, Tool]:
    return {
        name: Tool(declared.description or "", declared.input_schema or {}, None)
        if declared.module is None
        else modules[declared.module]
        for name, declared in definition.tools.items()
    }
