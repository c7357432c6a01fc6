"""What differs between two releases: which cases were added, removed or changed in which fields, and what else.

Values of the private part are never shown: only the names of the fields that differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.ids import CaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.manifest import PRIVATE, Manifest, eval_json
from trunchbuild.core.strict_json import read_json

CasePair = tuple[bytes, bytes | None]
"""A public line and its private one (None where it is withheld), without LF."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two releases. `pairs` streams its cases from the first; it is called up to twice."""

    manifest: Manifest
    pairs: Callable[[], Iterator[CasePair]]


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case that both releases have, with other content."""

    case: CaseId
    fields: tuple[str, ...]
    """`prompt`, `evaluate/expected` ...; sorted."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A value of the manifest that differs; as short text, None where it is absent."""

    field: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """Everything that differs. Cases stand in the order of the release that has them (changed: the new one's)."""

    added: tuple[CaseId, ...] = ()
    removed: tuple[CaseId, ...] = ()
    changed: tuple[CaseChange, ...] = ()
    moved: tuple[CaseId, ...] = ()
    """The first case of each eval that stands elsewhere among the cases that both releases have."""
    facts: tuple[FieldChange, ...] = ()
    """Benchmark, source and eval values of the manifest; where a private part is withheld, the digests of both."""
    modules: tuple[FieldChange, ...] = ()
    """Files under `modules/`, by SHA-256."""
    unchanged: int = 0
    """Cases whose both lines are equal."""
    private_compared: bool = True

    @property
    def same_cases(self) -> bool:
        """Whether the same cases stand in the same order."""
        return not (self.added or self.removed or self.changed or self.moved)

    @property
    def only_salts(self) -> bool:
        """Whether the two differ in nothing but salts: sealed with two keys, or one of them not at all."""
        return bool(self.changed) and {change.fields for change in self.changed} == {("salt",)} and self._same_else

    @property
    def _same_else(self) -> bool:
        return not (self.added or self.removed or self.moved or self.facts or self.modules)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return self.same_cases and not self.facts and not self.modules

    def json(self) -> JsonObject:
        """The difference for `--json`."""
        return {
            "same": self.same,
            "sameCases": self.same_cases,
            "privateCompared": self.private_compared,
            "unchanged": self.unchanged,
            "added": [str(case) for case in self.added],
            "removed": [str(case) for case in self.removed],
            "changed": [{"case": str(change.case), "fields": list(change.fields)} for change in self.changed],
            "moved": [str(case) for case in self.moved],
            "facts": [_change_json(change) for change in self.facts],
            "modules": [_change_json(change) for change in self.modules],
        }


def compare(old: Side, new: Side) -> ReleaseDiff:
    """Compare two releases; holds some hashes per case, never the cases.

    Raises:
        BadInputError: A line is not strict JSON, or lacks `eval` and `id`.
    """
    before, after = _index(old), _index(new)
    private_compared = all(entry.private is not None for entry in (*before.values(), *after.values()))
    both = [case for case in after if case in before]
    suspects = {case for case in both if not _same(before[case], after[case])}
    fields_before, fields_after = _fields(old, suspects), _fields(new, suspects)
    changed = tuple(
        CaseChange(case, _changed_fields(fields_before[case], fields_after[case])) for case in both if case in suspects
    )
    return ReleaseDiff(
        added=tuple(case for case in after if case not in before),
        removed=tuple(case for case in before if case not in after),
        changed=tuple(change for change in changed if change.fields),
        moved=_moved([case for case in before if case in after], both),
        facts=(
            *_fact_changes(old.manifest, new.manifest),
            *(() if private_compared else _private_changes(old.manifest, new.manifest)),
        ),
        modules=tuple(_changes("", _modules(old.manifest), _modules(new.manifest))),
        unchanged=len(both) - sum(1 for change in changed if change.fields),
        private_compared=private_compared,
    )


def _private_changes(old: Manifest, new: Manifest) -> Iterator[FieldChange]:
    before, after = old.file(PRIVATE).sha256, new.file(PRIVATE).sha256
    if before != after:
        yield FieldChange(PRIVATE, before, after)


@dataclass(frozen=True, slots=True)
class _Hashes:
    public: bytes
    private: bytes | None


def _case_of(line: bytes) -> tuple[CaseId, Mapping[str, Json]]:
    value = read_json(line, "cases.jsonl")
    value = value if isinstance(value, Mapping) else {}
    return CaseId(str(value.get("eval")), str(value.get("id"))), value


def _index(side: Side) -> dict[CaseId, _Hashes]:
    index: dict[CaseId, _Hashes] = {}
    for public, private in side.pairs():
        case, _ = _case_of(public)
        index[case] = _Hashes(_hash(public), None if private is None else _hash(private))
    return index


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _same(one: _Hashes, other: _Hashes) -> bool:
    withheld = one.private is None or other.private is None
    return one.public == other.public and (withheld or one.private == other.private)


def _fields(side: Side, wanted: set[CaseId]) -> dict[CaseId, dict[str, bytes]]:
    """A hash per field of each wanted case."""
    found: dict[CaseId, dict[str, bytes]] = {}
    if not wanted:
        return found
    for public, private in side.pairs():
        case, value = _case_of(public)
        if case in wanted:
            hashes = dict(_hashed(value))
            if private is None:
                hashes["private"] = b""
            else:
                hashes.update(_hashed(_case_of(private)[1]))
            found[case] = hashes
    return found


def _hashed(value: Mapping[str, Json]) -> Iterator[tuple[str, bytes]]:
    for name, item in value.items():
        if name in ("evaluate", "limits", "sampling", "tags") and isinstance(item, Mapping):
            yield from ((f"{name}/{inner}", _hash(canonical_bytes(content))) for inner, content in item.items())
        else:
            yield name, _hash(canonical_bytes(item))


def _changed_fields(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> tuple[str, ...]:
    names = old.keys() | new.keys()
    if "private" in names:
        # One side is withheld: what only the other side's private line holds was not compared.
        public = {name for name in names if name in old and name in new} | _PUBLIC_NAMES
        names = {name for name in names if name.partition("/")[0] in public and name != "private"}
    return tuple(sorted(name for name in names if old.get(name) != new.get(name)))


_PUBLIC_NAMES = {
    "prompt",
    "systemPrompt",
    "description",
    "tools",
    "limits",
    "sampling",
    "fixtures",
    "tags",
    "sandbox",
}


def _moved(before: list[CaseId], after: list[CaseId]) -> tuple[CaseId, ...]:
    """Per eval the first case that stands where the other release has another one."""
    moved: dict[str, CaseId] = {}
    for one, other in zip(before, after, strict=True):
        if one != other:
            moved.setdefault(other.eval, other)
    return tuple(moved.values())


def _modules(manifest: Manifest) -> Mapping[str, Json]:
    return {entry.path: entry.sha256 for entry in manifest.files if entry.merkle_root is None}


def _fact_changes(old: Manifest, new: Manifest) -> Iterator[FieldChange]:
    one, other = old.json(), new.json()
    for name in ("protocolVersion", "benchmark", "source"):
        yield from _changes(name, one[name], other[name])
    before = {entry.id: eval_json(entry) for entry in old.evals}
    after = {entry.id: eval_json(entry) for entry in new.evals}
    yield from _changes("evals", before, after)
    if before.keys() == after.keys() and list(before) != list(after):
        yield FieldChange("evals", " ".join(before), " ".join(after))


def _changes(place: str, old: Json, new: Json) -> Iterator[FieldChange]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _changes(f"{place}/{name}" if place else name, old.get(name), new.get(name))
    elif old != new:
        yield FieldChange(place, _short(old), _short(new))


def _short(value: Json) -> str | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return "{...}"
    text = value if isinstance(value, str) else canonical_bytes(value).decode()
    return text if len(text) <= 100 else text[:99] + "…"


def _change_json(change: FieldChange) -> JsonObject:
    return {"field": change.field, "old": change.old, "new": change.new}
