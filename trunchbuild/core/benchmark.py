"""The benchmark config: `benchmark.config.{ts,mts,js,mjs,json}`, read to frozen values; `docs/authoring.md`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from trunchbuild.core.case_settings import NO_LIMITS, Limits
from trunchbuild.core.declared import Declared
from trunchbuild.core.fields import kind_of
from trunchbuild.core.json_types import Json
from trunchbuild.core.loaded import BenchmarkFacts
from trunchbuild.errors import BadInputError, Fault

PROTOCOL_VERSIONS = (1,)
"""The contract versions that this build reads."""

_SAFE_INTEGER = 2**53 - 1
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}\Z")
_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
_CONFIG_KEYS = (
    "protocolVersion",
    "title",
    "version",
    "description",
    "license",
    "homepage",
    "tags",
    "defaults",
    "evals",
)
_LIMIT_MINIMUMS = {"maxSteps": 1, "maxToolCalls": 0, "maxOutputTokens": 1}


class InvalidBenchmarkError(BadInputError):
    """A config or an eval module does not follow the contract; every fault is listed."""

    slug: ClassVar[str] = "invalid-benchmark"


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool as declared: a module of the repository, or a description with its schema where nothing is executed."""

    module: str | None = None
    """Repository path of the module that describes and runs it."""
    description: str | None = None
    input_schema: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkConfig:
    """What the config declares; every path is a repository path."""

    path: str
    protocol_version: int
    facts: BenchmarkFacts
    evals: tuple[str, ...]
    """Eval modules, in the author's order."""
    limits: Limits = NO_LIMITS
    system_prompt: str | None = None
    tools: Mapping[str, ToolDeclaration] | None = None


def parse_config(value: Json, path: str, functions: frozenset[str] = frozenset()) -> BenchmarkConfig:
    """Read a config; `path` is its repository path, `functions` the JSON pointers of members that are functions.

    Raises:
        InvalidBenchmarkError: It has faults; all are listed, each with its JSON pointer.
    """
    faults: list[Fault] = []
    if not isinstance(value, Mapping):
        got = "a function" if "" in functions else kind_of(value)
        raise InvalidBenchmarkError("not a benchmark config", place=path, expected="an object", got=got)
    _check_version(value.get("protocolVersion"), path)
    faults += [Fault(f"{path} {pointer}", "a function", "a JSON value") for pointer in sorted(functions)]
    config = Declared(value, path, _CONFIG_KEYS, faults)
    facts = _facts(config)
    evals = _eval_paths(config, path)
    defaults = config.inner("defaults", config.mapping("defaults") or {}, ("limits", "systemPrompt", "tools"))
    limits = read_limits(defaults)
    system_prompt = defaults.text("systemPrompt")
    tools = read_tools(defaults, path)
    finish(faults, path)
    return BenchmarkConfig(path, PROTOCOL_VERSIONS[0], facts, evals, limits, system_prompt, tools)


def finish(faults: list[Fault], path: str) -> None:
    """Raise what was collected.

    Raises:
        InvalidBenchmarkError: There are faults.
    """
    if faults:
        raise InvalidBenchmarkError(f"{path} does not follow the contract: {len(faults)} faults", faults=faults)


def _check_version(version: Json, path: str) -> None:
    """Another version may mean anything by any other key, so nothing else is looked at."""
    if isinstance(version, bool) or version not in PROTOCOL_VERSIONS:
        got = str(version) if isinstance(version, int | float) else "nothing" if version is None else kind_of(version)
        readable = " or ".join(map(str, PROTOCOL_VERSIONS))
        raise InvalidBenchmarkError(
            "protocol version that this build does not read",
            place=f"{path} /protocolVersion",
            expected=readable,
            got=got,
            hint=f"this build reads protocolVersion {readable}",
        )


def _facts(config: Declared) -> BenchmarkFacts:
    title = config.line("title")
    version = config.line("version")
    if version is not None and not VERSION.match(version):
        config.wrong("version", "a version such as `1.0.0` (letters, digits and `.+_-`, at most 64)", version)
    return BenchmarkFacts(
        title=title or "",
        version=version or "",
        description=config.text("description"),
        license=config.text("license", filled=True),
        homepage=config.text("homepage", filled=True),
        tags=config.texts("tags"),
    )


def _eval_paths(config: Declared, path: str) -> tuple[str, ...]:
    if not config.required("evals", "a list of eval module paths"):
        return ()
    evals: dict[str, str] = {}
    written = config.texts("evals")
    if not written and config.get("evals") in ([], ()):
        config.wrong("evals", "at least one eval module path", config.get("evals"))
    for index, item in enumerate(written):
        resolved = config.path(("evals", index), item, path)
        if resolved in evals:
            config.wrong(("evals", index), f"each eval once (`{evals[resolved]}` is the same file)", item)
        elif resolved is not None:
            evals[resolved] = item
    return tuple(evals)


def read_limits(owner: Declared) -> Limits:
    """The member `limits` of a config's defaults or of an eval."""
    value = owner.mapping("limits")
    if value is None:
        return NO_LIMITS
    limits = owner.inner("limits", value, tuple(_LIMIT_MINIMUMS))
    found: dict[str, int] = {}
    for name, minimum in _LIMIT_MINIMUMS.items():
        number = value.get(name, minimum)
        whole = int(number) if isinstance(number, float) and number.is_integer() else number
        if isinstance(whole, bool) or not isinstance(whole, int) or not minimum <= whole <= _SAFE_INTEGER:
            limits.wrong(name, f"an integer of at least {minimum}", number)
        elif name in value:
            found[name] = whole
    return Limits(found.get("maxSteps"), found.get("maxToolCalls"), found.get("maxOutputTokens"))


def read_tools(owner: Declared, base: str) -> dict[str, ToolDeclaration] | None:
    """The member `tools`: name -> module path relative to `base`, or `{description, inputSchema}`."""
    value = owner.mapping("tools", "an object of tool names")
    if value is None:
        return None
    tools = owner.inner("tools", value, tuple(value))
    found: dict[str, ToolDeclaration] = {}
    for name, item in value.items():
        if not _TOOL_NAME.match(name):
            tools.wrong(name, "a tool name of letters, digits, `_` and `-`, at most 64", name)
        if isinstance(item, Mapping):
            inline = tools.inner(name, item, ("description", "inputSchema"))
            inline.required("description", "a string")
            inline.required("inputSchema", "a JSON Schema")
            found[name] = ToolDeclaration(
                description=inline.text("description"), input_schema=inline.mapping("inputSchema", "a JSON Schema")
            )
        else:
            module = tools.path(name, item, base)
            found[name] = ToolDeclaration(module=module)
    return found
