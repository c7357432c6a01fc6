"""Says how the output of two runs differs: another order, or which cases and fields; and what the causes may be."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import IO

from trunchbuild.core.json_types import Json
from trunchbuild.core.strict_json import MAX_DEPTH, is_deeper
from trunchbuild.effects.runtime._two_runs import Explain
from trunchbuild.errors import Fault

_SHOWN_CASES = 5
_SHOWN_FIELDS = 4
_CAUSES = "usual causes: the depth of the stack, the size of the memory, where and in which order the code runs"


def explain_cases(about: str, first: IO[bytes], second: IO[bytes], hints: Sequence[str]) -> list[Fault]:
    """Compare two JSON lines bodies of cases that the transformer `about` gave; at least one fault."""
    return [replace(fault, place=f"{about} {fault.place}".rstrip()) for fault in _case_lists(first, second, hints)]


def _case_lists(first: IO[bytes], second: IO[bytes], hints: Sequence[str]) -> list[Fault]:
    hint = "; ".join(dict.fromkeys(hints)) or _CAUSES
    ones, twos = _digests(first), _digests(second)
    position = next((at for at, (one, two) in enumerate(zip(ones, twos, strict=False)) if one != two), None)
    if position is None:
        position = min(len(ones), len(twos))
    if sorted(ones) == sorted(twos):
        one, two = _line(first, position), _line(second, position)
        return [
            Fault(
                _name(one, position),
                f"same cases, different order: position {position + 1} is the first that differs",
                _name(one, position),
                _name(two, position),
                hint,
            )
        ]
    faults = []
    if len(ones) != len(twos):
        faults.append(Fault("", "the runs gave different numbers of cases", str(len(ones)), str(len(twos)), hint))
    differing = [at for at, (one, two) in enumerate(zip(ones, twos, strict=False)) if one != two]
    for at in differing[:_SHOWN_CASES]:
        faults += _case_faults(at, _line(first, at), _line(second, at), hint)
    if len(differing) > _SHOWN_CASES:
        faults.append(Fault("", f"{len(differing)} cases differ between the runs"))
    return faults


def explain_loaded(entries: Sequence[str]) -> Explain:
    """Compare what loading modules gave; `entries` are their paths, one a line."""

    def explain(first: IO[bytes], second: IO[bytes], _hints: Sequence[str]) -> list[Fault]:
        return [
            fault
            for entry, one, two in zip(entries, first.readlines(), second.readlines(), strict=False)
            if one != two
            for fault in _value_faults(entry, _member(_value(one)), _member(_value(two)), _CAUSES)
        ] or [Fault("", "the runs gave different functions")]

    return explain


def _digests(body: IO[bytes]) -> list[bytes]:
    body.seek(0)
    return [hashlib.blake2b(raw, digest_size=16).digest() for raw in body]


def _line(body: IO[bytes], position: int) -> bytes:
    body.seek(0)
    return next(itertools.islice(body, position, None), b"null")


def _value(raw: bytes) -> Json:
    """What a line holds; a line that is no JSON, which only a runner that was tampered with gives, as its text."""
    try:
        value: Json = json.loads(raw)
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace")
    return raw.decode("utf-8", "replace") if is_deeper(value, 2 * MAX_DEPTH) else value


def _member(value: Json) -> Json:
    return value.get("value") if isinstance(value, Mapping) else value


def _name(raw: bytes, position: int) -> str:
    value = _value(raw)
    if isinstance(value, Mapping) and isinstance(value.get("id"), str):
        return f"case {value['id']}"
    return f"case at position {position + 1}"


def _case_faults(position: int, one: bytes, two: bytes, hint: str) -> list[Fault]:
    return _value_faults(_name(one, position), _value(one), _value(two), hint)


def _value_faults(name: str, one: Json, two: Json, hint: str) -> list[Fault]:
    found = list(itertools.islice(_differences(one, two, ""), _SHOWN_FIELDS))
    return [Fault(f"{name} {pointer}".rstrip(), "differs between the runs", a, b, hint) for pointer, a, b in found] or [
        Fault(name, "its members come in another order", hint=hint)
    ]


def _differences(one: Json, two: Json, pointer: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        for key in dict.fromkeys([*one, *two]):
            here = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in one or key not in two:
                yield here, _shown(one.get(key, _ABSENT)), _shown(two.get(key, _ABSENT))
            else:
                yield from _differences(one[key], two[key], here)
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for at, (a, b) in enumerate(zip(one, two, strict=True)):
            yield from _differences(a, b, f"{pointer}/{at}")
    elif one != two or type(one) is not type(two):
        yield pointer, _shown(one), _shown(two)


_ABSENT = object()


def _shown(value: object) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:117]}..."
