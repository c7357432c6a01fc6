"""The fast way to say that a case follows `schemas/case.schema.json`: plain Python, about three microseconds a case.

jsonschema needs some 200 microseconds for the same answer, and a compiled validator would be a second dependency for
one schema. A property test holds both to the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from trunchbuild.core.ecmascript import SAFE_INTEGER
from trunchbuild.core.json_types import Json
from trunchbuild.core.strict_json import is_deeper
from trunchbuild.core.unicode_text import WHITE_SPACE

MAX_CASE_DEPTH: Final = 64
"""Arrays and objects inside one another, the case itself included."""

MAX_ID: Final = 200
"""Characters (code points)."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
# ECMAScript's trim takes the byte order mark for white space, Unicode does not.
_EDGE = frozenset(WHITE_SPACE + "\ufeff")


def follows_case_schema(value: Json) -> bool:
    """Whether a value is a case, tool names and the inside of `evaluate` apart."""
    if type(value) is not dict or "id" not in value or "prompt" not in value:
        return False
    for key, item in value.items():
        check = _CHECKS.get(key)
        if check is None or not check(item):
            return False
    return True


def follows_public_line(value: Json) -> bool:
    """Whether a value follows `schemas/cases-line.schema.json`."""
    return _is_whole(value, _PUBLIC_LINE, ("eval", "id", "prompt"))


def follows_private_line(value: Json) -> bool:
    """Whether a value follows `schemas/private-line.schema.json`."""
    return _is_whole(value, _PRIVATE_LINE, ("eval", "id", "evaluate"))


def _is_whole(value: Json, checks: Mapping[str, Callable[[Json], bool]], required: tuple[str, ...]) -> bool:
    if type(value) is not dict or not all(name in value for name in required):
        return False
    return all(key in checks and checks[key](item) for key, item in value.items())


def is_too_deep(value: Json) -> bool:
    """Whether a case is nested more deeply than the contract allows."""
    return is_deeper(value, MAX_CASE_DEPTH)


def _is_id(value: Json) -> bool:
    if type(value) is not str or not 0 < len(value) <= MAX_ID:
        return False
    if value.isascii() and value.isprintable():
        return value[0] != " " != value[-1]
    return not _CONTROL.search(value) and value[0] not in _EDGE and value[-1] not in _EDGE


def _is_text(value: Json) -> bool:
    return type(value) is str


def _is_filled(value: Json) -> bool:
    return type(value) is str and value != ""


def _is_boolean(value: Json) -> bool:
    return value is True or value is False


def _is_tool_list(value: Json) -> bool:
    return type(value) is list and all(map(_is_filled, value)) and len(set(value)) == len(value)


def _is_integer(value: Json, minimum: int) -> bool:
    if type(value) is not int and not (type(value) is float and value.is_integer()):
        return False
    return minimum <= value <= SAFE_INTEGER


def _is_positive(value: Json) -> bool:
    return _is_integer(value, 1)


def _is_natural(value: Json) -> bool:
    return _is_integer(value, 0)


def _is_temperature(value: Json) -> bool:
    return (type(value) is int or type(value) is float) and value >= 0


def _is_share(value: Json) -> bool:
    return (type(value) is int or type(value) is float) and 0 <= value <= 1


def _is_stop(value: Json) -> bool:
    return _is_filled(value) or (type(value) is list and value != [] and all(map(_is_filled, value)))


def _object_of(checks: Mapping[str, Callable[[Json], bool]]) -> Callable[[Json], bool]:
    def check(value: Json) -> bool:
        if type(value) is not dict:
            return False
        return all(key in checks and checks[key](item) for key, item in value.items())

    return check


def _is_tag(value: Json) -> bool:
    kind = type(value)
    if kind is list:
        return all(map(_is_text, value))  # type: ignore[arg-type]
    return kind is str or kind is int or kind is float or kind is bool


def _are_tags(value: Json) -> bool:
    return type(value) is dict and all(map(_is_tag, value.values()))


def _is_shallow(value: Json) -> bool:
    kind = type(value)
    return (kind is not dict and kind is not list) or not is_deeper(value, MAX_CASE_DEPTH - 1)


def _are_fixtures(value: Json) -> bool:
    return (type(value) is list or type(value) is dict) and _is_shallow(value)


def _is_sandbox(value: Json) -> bool:
    return type(value) is dict and _is_boolean(value.get("required")) and _is_shallow(value)


def _is_specification(value: Json) -> bool:
    if type(value) is not dict or not _is_filled(value.get("kind")):
        return False
    return all(map(_is_text, value.values())) or _is_shallow(value)


def _matches(pattern: str) -> Callable[[Json], bool]:
    whole = re.compile(pattern)
    return lambda value: type(value) is str and whole.fullmatch(value) is not None


_is_resolved_kind = _matches(r"custom|[a-z][a-z0-9_]*@[1-9][0-9]{0,5}")
_is_evaluator_key = _matches(r"[^\n]*#[A-Za-z_$][A-Za-z0-9_$.]*")


def is_repository_path(value: Json) -> bool:
    """Whether a value is a path that means the same file everywhere: relative, no `.`, `..` or empty parts."""
    if type(value) is not str or _CONTROL.search(value) or "\\" in value or ":" in value:
        return False
    return not any(part in ("", ".", "..") for part in value.split("/"))


def _is_resolved(value: Json) -> bool:
    if type(value) is not dict or not _is_resolved_kind(value.get("kind")) or not _is_shallow(value):
        return False
    if value["kind"] != "custom":
        return True
    known = value.keys() == {"kind", "evaluatorKey", "sourcePath"}
    return known and _is_evaluator_key(value["evaluatorKey"]) and is_repository_path(value["sourcePath"])


_CHECKS: Mapping[str, Callable[[Json], bool]] = {
    "id": _is_id,
    "prompt": _is_filled,
    "systemPrompt": _is_text,
    "description": _is_text,
    "tools": _is_tool_list,
    "limits": _object_of({"maxSteps": _is_positive, "maxToolCalls": _is_natural, "maxOutputTokens": _is_positive}),
    "tags": _are_tags,
    "sampling": _object_of(
        {
            "temperature": _is_temperature,
            "topP": _is_share,
            "seed": _is_natural,
            "stop": _is_stop,
            "think": _is_boolean,
        }
    ),
    "fixtures": _are_fixtures,
    "sandbox": _is_sandbox,
    "data": _is_shallow,
    "evaluate": _is_specification,
    "gold": _is_text,
}

_is_eval_id = _matches(r"[a-z0-9][a-z0-9._-]{0,127}")
_PRIVATE = ("data", "evaluate", "gold")
_PUBLIC_LINE = {"eval": _is_eval_id, **{name: check for name, check in _CHECKS.items() if name not in _PRIVATE}}
_PRIVATE_LINE = {
    "eval": _is_eval_id,
    "id": _is_id,
    "evaluate": _is_resolved,
    "data": _is_shallow,
    "gold": _is_text,
    "salt": _matches("[0-9a-f]{64}"),
}
