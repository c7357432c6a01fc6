"""A tool's module: default export `{description, inputSchema, execute(input)}`."""

from __future__ import annotations

from collections.abc import Mapping

from trunchbuild.core.benchmark import InvalidBenchmarkError, finish
from trunchbuild.core.case_settings import Tool
from trunchbuild.core.declared import Declared
from trunchbuild.core.fields import kind_of
from trunchbuild.core.json_types import Json
from trunchbuild.errors import Fault

_KEYS = ("description", "inputSchema", "execute")


def parse_tool(value: Json, functions: frozenset[str], path: str) -> Tool:
    """Read a tool module's default export; `functions` are the JSON pointers of its members that are functions.

    Raises:
        InvalidBenchmarkError: It has faults; all are listed.
    """
    if not isinstance(value, Mapping):
        raise InvalidBenchmarkError("not a tool", place=path, expected="an object", got=kind_of(value))
    faults: list[Fault] = []
    declared = Declared(value, path, _KEYS, faults)
    faults += [Fault(f"{path} {pointer}", "a function", "a JSON value") for pointer in sorted(functions - {"/execute"})]
    if "/execute" not in functions:
        faults.append(Fault(f"{path} /execute", "missing", "a function `execute(input)`"))
    declared.required("description", "a string")
    declared.required("inputSchema", "a JSON Schema")
    description = declared.text("description", filled=True)
    schema = declared.mapping("inputSchema", "a JSON Schema")
    finish(faults, path)
    return Tool(description or "", schema or {}, path)
