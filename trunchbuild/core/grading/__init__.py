"""Built-in evaluators: pure functions, one file a kind, each with a number that never changes its meaning.

A change of meaning is a new number beside the old one (`exact@2`), used only where an author writes it; what a bare
kind means is fixed by `protocolVersion`. `docs/reference/evaluators.md` describes every kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from trunchbuild.core.grading.answer_bank import ANSWER_BANK_1
from trunchbuild.core.grading.contains import CONTAINS_1
from trunchbuild.core.grading.exact import EXACT_1
from trunchbuild.core.grading.gsm8k import GSM8K_1
from trunchbuild.core.grading.non_empty import NON_EMPTY_1
from trunchbuild.core.grading.parameters import Kind, describe
from trunchbuild.core.grading.regex import REGEX_1
from trunchbuild.core.grading.verdict import Grader, Verdict
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.errors import BadInputError, Fault

__all__ = ["KINDS", "Grader", "Verdict", "check_specification", "grader", "resolve_kind"]

_NUMBERED: Mapping[str, Kind] = {
    "answer_bank@1": ANSWER_BANK_1,
    "contains@1": CONTAINS_1,
    "exact@1": EXACT_1,
    "gsm8k@1": GSM8K_1,
    "non_empty@1": NON_EMPTY_1,
    "regex@1": REGEX_1,
}

_BARE: Mapping[str, str] = {name.partition("@")[0]: name for name in _NUMBERED if name.endswith("@1")}
"""What a bare kind means under protocol version 1; a later number changes nothing here."""

_WRITABLE: Mapping[str, Kind] = {**_NUMBERED, **{bare: _NUMBERED[name] for bare, name in _BARE.items()}}

KINDS: Mapping[str, tuple[int, ...]] = {
    bare: tuple(sorted(int(name.partition("@")[2]) for name in _NUMBERED if name.partition("@")[0] == bare))
    for bare in _BARE
}
"""Every kind that this build can grade, and its numbers."""


def resolve_kind(kind: str) -> str:
    """The kind with its number: `exact` is `exact@1`, and `exact@1` stays.

    Raises:
        BadInputError: No such kind, or no such number of it; the message lists what is known.
    """
    if kind in _NUMBERED:
        return kind
    if kind in _BARE:
        return _BARE[kind]
    raise BadInputError("unknown evaluator", faults=[_unknown_kind(kind, "")])


def check_specification(spec: JsonObject, place: str) -> list[Fault]:
    """Every fault of a built-in specification; an empty list if there is none.

    `place` is where the specification stands (`case add-017 /evaluate`); a fault adds the parameter's pointer.
    """
    name = spec.get("kind")
    kind = _WRITABLE.get(name) if type(name) is str else None
    if kind is None:
        return [_unknown_kind(name, place)]
    faults: list[Fault] = []
    parameters = kind.parameters
    for key, value in spec.items():
        check = parameters.get(key)
        if check is None:
            if key != "kind":
                faults.append(_unknown_parameter(key, str(name), kind, place))
        elif (problem := check(value)) is not None:
            at = f"{place}/{key}{problem.at}"
            faults.append(Fault(at, problem.message, problem.expected, problem.got, problem.hint))
    if not kind.required <= spec.keys():
        faults += [
            Fault(f"{place}/{key}", f"missing; `{name}` needs it") for key in sorted(kind.required - spec.keys())
        ]
    if not faults and kind.check_whole is not None and (found := kind.check_whole(spec)) is not None:
        key, problem = found
        faults.append(Fault(f"{place}/{key}", problem.message, problem.expected, problem.got, problem.hint))
    return faults


def grader(spec: JsonObject) -> Grader:
    """The pure function that grades replies by this specification.

    Raises:
        BadInputError: The specification has faults; all are listed.
    """
    faults = check_specification(spec, "/evaluate")
    if faults:
        raise BadInputError("the evaluator's specification is not valid", faults=faults)
    return _WRITABLE[str(spec["kind"])].make(spec)


def _unknown_kind(kind: Json, place: str) -> Fault:
    at = f"{place}/kind" if place else ""
    known = ", ".join(f"{bare} ({', '.join(f'@{number}' for number in KINDS[bare])})" for bare in sorted(KINDS))
    if type(kind) is not str:
        message = "missing" if kind is None else "wrong type"
        return Fault(at, f"{message} evaluator kind", f"one of {known}", None if kind is None else describe(kind))
    near = get_close_matches(kind.lower().replace("-", "_"), _WRITABLE, n=1)
    hint = f"did you mean `{near[0]}`?" if near else None
    return Fault(at, "unknown evaluator kind", f"one of {known}", describe(kind), hint)


def _unknown_parameter(key: str, name: str, kind: Kind, place: str) -> Fault:
    near = get_close_matches(key.lower(), {known.lower(): known for known in kind.parameters}, n=1)
    nearest = {known.lower(): known for known in kind.parameters}.get(near[0]) if near else None
    takes = ", ".join(f"`{known}`" for known in kind.parameters) or "no parameters"
    hint = f"did you mean `{nearest}`?" if nearest else None
    return Fault(f"{place}/{key}", f"unknown parameter; `{name}` takes {takes}", hint=hint)
