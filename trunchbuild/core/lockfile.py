"""The lockfile of a release line: committed beside the users of a benchmark, easy to read in a difference.

Sorted tables, no time, no path of a machine, one final line feed. What the manifest states is repeated here and checked
against it; the tables `[source]` and `[toolchain]`, which say more than the manifest, carry a digest of their own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from trunchbuild.core.canonical import digest_of
from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import FileRecord
from trunchbuild.core.manifest import EvalEntry, Manifest, record_json
from trunchbuild.core.release import release_name
from trunchbuild.core.repo import recorded_url
from trunchbuild.core.revision import HEX_LENGTH
from trunchbuild.errors import BadInputError, UsageError

LOCK_VERSION = 1
SUFFIX = ".lock.toml"

_MARKER = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?\r?$", re.MULTILINE)
_HEX = re.compile(r"[0-9a-f]+\Z")
_HEADER = "# Written by `trunchbuild compile`; do not edit. `trunchbuild verify` checks it.\n\n"


class LockConflictError(BadInputError):
    """The lockfile holds the markers of a merge that nobody settled."""

    slug: ClassVar[str] = "lock-conflict"


class LockFormatError(BadInputError):
    """The lockfile does not follow its format."""

    slug: ClassVar[str] = "lock-format"


@dataclass(frozen=True, slots=True)
class LockedSource:
    """Where a release came from."""

    object_format: Literal["sha1", "sha256"]
    commit: str
    tree: str
    config: str
    requested: str
    """The revision as it was typed."""
    url: str | None = None
    """None for a local path, unless its origin was stated."""
    resolved_ref: str | None = None


@dataclass(frozen=True, slots=True)
class LockedEval:
    """One eval: how many cases, made from what."""

    case_count: int
    sources: Mapping[str, FileRecord] = field(default_factory=dict)
    """By name; the one file of a file form is called `cases`."""


@dataclass(frozen=True, slots=True)
class Lockfile:
    """One release, as its users pin it."""

    name: str
    version: str
    digest: ReleaseId
    case_count: int
    cases_sha256: str
    sealed: bool
    source: LockedSource
    evals: Mapping[str, LockedEval]
    toolchain: Mapping[str, str] = field(default_factory=dict)
    """Versions of what built it; they inform, the digest does not depend on them."""

    @property
    def file_name(self) -> str:
        """The name of the file that holds this lock."""
        return self.name + SUFFIX

    def tables(self) -> JsonObject:
        """The lock as its file orders it."""
        release: dict[str, Json] = {
            "name": self.name,
            "version": self.version,
            "digest": str(self.digest),
            "manifest-sha256": self.digest.hex,
            "case-count": self.case_count,
            "cases-sha256": self.cases_sha256,
        }
        if self.sealed:
            release["sealed"] = True
        return {
            "lock-version": LOCK_VERSION,
            "release": release,
            "source": _with_digest("source", _source_table(self.source)),
            "evals": {
                eval_id: _drop_empty(
                    {
                        "case-count": entry.case_count,
                        "sources": {name: record_json(entry.sources[name]) for name in sorted(entry.sources)},
                    }
                )
                for eval_id, entry in sorted(self.evals.items())
            },
            "toolchain": _with_digest("toolchain", dict(sorted(self.toolchain.items()))),
        }

    def toml(self) -> bytes:
        """The file's bytes; equal locks give equal bytes."""
        import tomli_w  # noqa: PLC0415 - only where a lock is written

        return (_HEADER + tomli_w.dumps(self.tables())).encode("utf-8")


def make_lock(
    manifest: Manifest,
    digest: ReleaseId,
    cases_sha256: str,
    *,
    sealed: bool,
    requested: str,
    url: str | None,
    resolved_ref: str | None,
    toolchain: Mapping[str, str],
) -> Lockfile:
    """The lock of one release."""
    return Lockfile(
        name=release_name(manifest),
        version=manifest.benchmark.version,
        digest=digest,
        case_count=manifest.case_count,
        cases_sha256=cases_sha256,
        sealed=sealed,
        source=LockedSource(
            object_format=manifest.source.object_format,
            commit=manifest.source.commit,
            tree=manifest.source.tree,
            config=manifest.source.config,
            requested=requested,
            url=url,
            resolved_ref=resolved_ref,
        ),
        evals={entry.id: LockedEval(entry.case_count, _sources(entry)) for entry in manifest.evals},
        toolchain=toolchain,
    )


def parse_lock(data: bytes, place: str) -> Lockfile:
    """Read a lockfile strictly.

    Raises:
        LockConflictError: It holds merge-conflict markers.
        LockFormatError: It is no lock of a version that this build reads, or a table's digest does not fit its values.
    """
    try:
        return read_tables(parse_toml(data, place), place)
    except LockFormatError:
        raise
    except LockConflictError:
        raise
    except BadInputError as error:
        raise LockFormatError(error.message, hint=error.hint, faults=error.faults) from None


def parse_toml(data: bytes, place: str) -> JsonObject:
    """Read a lockfile as plain tables; what they mean is not looked at yet.

    Raises:
        LockConflictError: It holds merge-conflict markers.
        LockFormatError: It is no TOML.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LockFormatError(f"not UTF-8 at byte offset {error.start}", place=place) from None
    marker = _MARKER.search(text)
    if marker:
        line = text.count("\n", 0, marker.start()) + 1
        raise LockConflictError(
            "a merge conflict is not settled",
            place=f"{place}:{line}",
            got=f"`{marker[0].rstrip()[:40]}`",
            hint="take either side whole (`git checkout --ours` or `--theirs`), then `trunchbuild compile --update`",
        )
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    # A number of thousands of digits is a plain ValueError.
    except (ValueError, RecursionError) as error:
        raise LockFormatError(f"not TOML: {error}", place=place) from None
    return tables


def read_tables(tables: Json, place: str) -> Lockfile:
    """Read the tables strictly.

    Raises:
        BadInputError: A value is missing, unknown, of a wrong type, or a table's digest does not fit it.
    """
    fields = Fields(tables, place)
    version = fields.integer("lock-version", 1)
    if version != LOCK_VERSION:
        raise fields.wrong("lock-version", f"{LOCK_VERSION}, which this build reads", str(version))
    release = Fields(fields.take("release"), fields.place("release"))
    digest = Digest.parse(release.text("digest"))
    if release.text("manifest-sha256") != digest.hex:
        raise release.wrong("manifest-sha256", digest.hex, "another digest than in `digest`")
    lock = Lockfile(
        name=release.text("name"),
        version=release.text("version"),
        digest=digest,
        case_count=release.integer("case-count", 1),
        cases_sha256=Digest(release.text("cases-sha256")).hex,
        sealed=bool(release.optional("sealed", release.boolean)),
        source=_read_source(_checked(fields, "source")),
        evals={
            eval_id: _read_eval(Fields(item, f"{fields.place('evals')}/{eval_id}"))
            for eval_id, item in fields.mapping("evals").items()
        },
        toolchain=_read_toolchain(_checked(fields, "toolchain")),
    )
    release.end()
    fields.end()
    return lock


def _drop_empty(table: Mapping[str, Json]) -> JsonObject:
    return {name: value for name, value in table.items() if value is not None and value != {}}


def _source_table(source: LockedSource) -> JsonObject:
    return _drop_empty(
        {
            "url": source.url,
            "requested": source.requested,
            "resolved-ref": source.resolved_ref,
            "object-format": source.object_format,
            "commit": source.commit,
            "tree": source.tree,
            "config": source.config,
        }
    )


def _sources(entry: EvalEntry) -> Mapping[str, FileRecord]:
    if entry.transformer is not None:
        return {source.name: source.file for source in entry.transformer.sources}
    return {} if entry.case_file is None else {"cases": entry.case_file}


def _table_digest(name: str, values: JsonObject) -> str:
    return digest_of({"type": "trunchbuild.lock/v1", "table": name, "values": values}).hex


def _with_digest(name: str, values: JsonObject) -> JsonObject:
    return {**values, "table-sha256": _table_digest(name, values)}


def _checked(fields: Fields, name: str) -> Fields:
    """A table whose digest fits its other values."""
    values = dict(fields.mapping(name))
    stated = values.pop("table-sha256", None)
    if any(not isinstance(value, str) for value in values.values()):
        raise fields.wrong(name, "strings", "a value of another type")
    expected = _table_digest(name, values)
    if stated != expected:
        raise BadInputError(
            "the table was edited",
            place=f"{fields.place(name)}/table-sha256",
            expected=expected,
            got=str(stated),
            hint="`trunchbuild compile REPO@REV --update` writes the lock anew",
        )
    return Fields(values, fields.place(name))


def _read_source(fields: Fields) -> LockedSource:
    object_format = fields.text("object-format")
    source = LockedSource(
        object_format="sha256" if object_format == "sha256" else "sha1",
        commit=fields.text("commit"),
        tree=fields.text("tree"),
        config=fields.text("config"),
        requested=fields.text("requested"),
        url=fields.optional("url", lambda name: _url(fields, name)),
        resolved_ref=fields.optional("resolved-ref", fields.text),
    )
    if object_format != source.object_format:
        raise fields.wrong("object-format", "`sha1` or `sha256`", ascii(object_format))
    for name, value in (("commit", source.commit), ("tree", source.tree)):
        if not _HEX.match(value) or len(value) != HEX_LENGTH[source.object_format]:
            raise fields.wrong(name, f"{HEX_LENGTH[source.object_format]} lower-case hex digits", ascii(value[:80]))
    fields.end()
    return source


def _url(fields: Fields, name: str) -> str:
    """An address as `compile` writes it; one with user info, or of this machine, was written by somebody else."""
    value = fields.text(name)
    try:
        plain = recorded_url(value)
    except UsageError as error:
        raise fields.wrong(name, "the address of a server", error.message) from None
    if plain != value:
        raise fields.wrong(name, f"`{plain}`", "the same address written in another way, or with user info")
    return value


def _read_eval(fields: Fields) -> LockedEval:
    count = fields.integer("case-count", 1)
    sources: dict[str, FileRecord] = {}
    for name, item in (fields.optional("sources", fields.mapping) or {}).items():
        record = Fields(item, f"{fields.place('sources')}/{name}")
        sources[name] = FileRecord(record.text("path"), record.text("sha256"), record.integer("bytes"))
        record.end()
    fields.end()
    return LockedEval(count, sources)


def _read_toolchain(fields: Fields) -> Mapping[str, str]:
    toolchain = {name: fields.text(name) for name in sorted(fields.names())}
    fields.end()
    return toolchain
