"""Read a manifest strictly: what was not written by the rules of `core/manifest.py` never becomes a value."""

from __future__ import annotations

import re
from typing import Literal

from trunchbuild.core.benchmark import VERSION
from trunchbuild.core.case_settings import NO_LIMITS, Limits, Tool
from trunchbuild.core.case_shape import is_repository_path
from trunchbuild.core.fields import Fields
from trunchbuild.core.loaded import BenchmarkFacts, CaseForm, FileRecord, SourceRecord, TransformerRecord
from trunchbuild.core.manifest import (
    CASES,
    CUSTOM,
    MANIFEST,
    MANIFEST_TYPE,
    MODULES,
    PRIVATE,
    PROTOCOL_VERSION,
    EvalEntry,
    EvaluatorUse,
    Manifest,
    ReleaseFile,
    SourceFacts,
)
from trunchbuild.core.strict_json import read_json
from trunchbuild.core.tree_names import name_fault
from trunchbuild.errors import BadInputError

_HEX64 = re.compile(r"[0-9a-f]{64}\Z")
_OBJECT_ID = {"sha1": re.compile(r"[0-9a-f]{40}\Z"), "sha256": re.compile(r"[0-9a-f]{64}\Z")}
_OBJECT_FORMATS: dict[str, Literal["sha1", "sha256"]] = {"sha1": "sha1", "sha256": "sha256"}
_EVAL_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}\Z")
_KIND = re.compile(r"[a-z][a-z0-9_]*@[1-9][0-9]{0,5}\Z")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_FORMS: tuple[CaseForm, ...] = ("inline", "file", "transformer")


def read_manifest(data: bytes, place: str = MANIFEST) -> Manifest:
    """Read `manifest.json` strictly: nothing unknown, nothing missing, canonical bytes.

    Raises:
        BadInputError: It is no manifest of a version this build reads, or not canonical.
    """
    manifest = _read_manifest(Fields(read_json(data, place), place))
    if manifest.canonical_bytes() != data:
        raise BadInputError(
            "not canonical", place=place, expected="RFC 8785 bytes", got="the same values written in another way"
        )
    return manifest


def safe_path(fields: Fields, name: str) -> str:
    """Read a member that is a repository path, by the rules for paths that are read from a commit.

    Raises:
        BadInputError: It is absolute, has `.`, `..` or empty parts, a backslash, colon, control character or `.git`.
    """
    path = fields.text(name)
    if not is_repository_path(path) or any(name_fault(part.encode("utf-8")) for part in path.split("/")):
        raise fields.wrong(name, "a relative path within the folder", ascii(path[:200]))
    return path


def _line(fields: Fields, name: str) -> str:
    """A title: what an author's config may hold, and no text that forges lines of a report."""
    value = fields.text(name)
    if not value.strip() or _CONTROL.search(value):
        raise fields.wrong(name, "a string of one line that is not empty", ascii(value[:80]))
    return value


def _matching(fields: Fields, name: str, pattern: re.Pattern[str], expected: str) -> str:
    value = fields.text(name)
    if not pattern.match(value):
        raise fields.wrong(name, expected, ascii(value))
    return value


def _hex(fields: Fields, name: str, pattern: re.Pattern[str] = _HEX64) -> str:
    return _matching(fields, name, pattern, "lower-case hex digits of full length")


def _read_manifest(fields: Fields) -> Manifest:
    fields.literal("type", MANIFEST_TYPE)
    version = fields.integer("protocolVersion", 1)
    if version != PROTOCOL_VERSION:
        raise fields.wrong("protocolVersion", f"{PROTOCOL_VERSION}, which this build reads", str(version))
    manifest = Manifest(
        benchmark=_read_facts(Fields(fields.take("benchmark"), fields.place("benchmark"))),
        source=_read_source(Fields(fields.take("source"), fields.place("source"))),
        evals=tuple(
            _read_eval(Fields(item, f"{fields.place('evals')}/{index}"))
            for index, item in enumerate(fields.items("evals"))
        ),
        files=tuple(
            _read_file(Fields(item, f"{fields.place('files')}/{index}"))
            for index, item in enumerate(fields.items("files"))
        ),
        protocol_version=version,
    )
    fields.end()
    _check_lists(fields, manifest)
    return manifest


def _check_lists(fields: Fields, manifest: Manifest) -> None:
    """What order and uniqueness promise: an id or path names one thing."""
    ids = [entry.id for entry in manifest.evals]
    if not ids or len(set(ids)) != len(ids):
        raise fields.wrong("evals", "at least one eval, each id once", ", ".join(ids) or "none")
    paths = [entry.path for entry in manifest.files]
    if paths != sorted(set(paths)):
        raise fields.wrong("files", "paths sorted, each once", "another order or a path twice")
    for name in (CASES, PRIVATE):
        if name not in paths:
            raise fields.wrong("files", f"`{name}`", "no such entry")
    for entry in manifest.files:
        jsonl = entry.path in (CASES, PRIVATE)
        if not jsonl and not entry.path.startswith(MODULES):
            raise fields.wrong("files", f"`{CASES}`, `{PRIVATE}` and paths under `{MODULES}`", f"`{entry.path}`")
        if jsonl != (entry.lines is not None) or jsonl != (entry.merkle_root is not None):
            raise fields.wrong("files", "`lines` and `merkleRoot` for the two JSONL files alone", f"`{entry.path}`")
    for index, item in enumerate(manifest.evals):
        _check_modules(fields, index, item, paths)


def _check_modules(fields: Fields, index: int, entry: EvalEntry, paths: list[str]) -> None:
    """An eval's functions are among the files; a run would miss them otherwise."""
    functions = [use.module for use in entry.evaluators if use.module is not None]
    if len(functions) > 1:
        raise fields.wrong(f"evals/{index}/evaluators", "at most one function of the repository", str(len(functions)))
    tools = [tool.module for tool in (entry.tools or {}).values() if tool.module is not None]
    for module in functions + tools:
        if MODULES + module not in paths:
            raise fields.wrong("files", f"`{MODULES}{module}`, which eval `{entry.id}` names", "no such entry")


def _read_facts(fields: Fields) -> BenchmarkFacts:
    facts = BenchmarkFacts(
        title=_line(fields, "title"),
        version=_matching(fields, "version", VERSION, "a version such as `1.0.0`"),
        description=fields.optional("description", fields.text),
        license=fields.optional("license", fields.text),
        homepage=fields.optional("homepage", fields.text),
        tags=fields.optional("tags", fields.texts) or (),
    )
    fields.end()
    return facts


def _read_source(fields: Fields) -> SourceFacts:
    name = fields.text("objectFormat")
    object_format = _OBJECT_FORMATS.get(name)
    if object_format is None:
        raise fields.wrong("objectFormat", "`sha1` or `sha256`", ascii(name))
    source = SourceFacts(
        object_format=object_format,
        commit=_hex(fields, "commit", _OBJECT_ID[object_format]),
        tree=_hex(fields, "tree", _OBJECT_ID[object_format]),
        config=safe_path(fields, "config"),
    )
    fields.end()
    return source


def _read_record(fields: Fields) -> FileRecord:
    record = FileRecord(safe_path(fields, "path"), _hex(fields, "sha256"), fields.integer("bytes"))
    fields.end()
    return record


def _read_file(fields: Fields) -> ReleaseFile:
    entry = ReleaseFile(
        path=safe_path(fields, "path"),
        sha256=_hex(fields, "sha256"),
        bytes=fields.integer("bytes"),
        lines=fields.optional("lines", fields.integer),
        merkle_root=fields.optional("merkleRoot", lambda name: _hex(fields, name)),
    )
    fields.end()
    return entry


def _read_transformer(fields: Fields) -> TransformerRecord:
    sources: list[SourceRecord] = []
    for index, item in enumerate(fields.items("sources")):
        source = Fields(item, f"{fields.place('sources')}/{index}")
        sources.append(SourceRecord(source.text("name"), _read_record(source)))
    transformer = TransformerRecord(
        name=fields.text("name"),
        path=safe_path(fields, "path"),
        modules=tuple(
            _read_record(Fields(item, f"{fields.place('modules')}/{index}"))
            for index, item in enumerate(fields.items("modules"))
        ),
        sources=tuple(sources),
    )
    fields.end()
    return transformer


def _read_use(fields: Fields) -> EvaluatorUse:
    use = EvaluatorUse(
        kind=_matching(fields, "kind", _KIND, "an evaluator kind and number (`exact@1`)"),
        cases=fields.integer("cases", 1),
        module=fields.optional("module", lambda name: safe_path(fields, name)),
        member=fields.optional("member", fields.text),
    )
    fields.end()
    named = (use.module is not None, use.member is not None)
    own = use.kind.partition("@")[0] == CUSTOM
    if named != (own, own):
        raise fields.wrong("module", f"`module` and `member` for `{CUSTOM}` and for nothing else", f"`{use.kind}`")
    return use


def _read_cases(fields: Fields) -> tuple[CaseForm, int, FileRecord | None, TransformerRecord | None]:
    name = fields.text("form")
    form = next((form for form in _FORMS if form == name), None)
    if form is None:
        raise fields.wrong("form", "`inline`, `file` or `transformer`", ascii(name))
    count = fields.integer("count", 1)
    file = _read_record(Fields(fields.take("file"), fields.place("file"))) if form == "file" else None
    transformer = None
    if form == "transformer":
        transformer = _read_transformer(Fields(fields.take("transformer"), fields.place("transformer")))
    fields.end()
    return form, count, file, transformer


def _read_eval(fields: Fields) -> EvalEntry:
    eval_id = fields.text("id")
    if not _EVAL_ID.match(eval_id):
        raise fields.wrong("id", "an eval id (a-z, 0-9, `.`, `_`, `-`)", ascii(eval_id))
    form, count, case_file, transformer = _read_cases(Fields(fields.take("cases"), fields.place("cases")))
    tools = fields.optional("tools", fields.mapping)
    entry = EvalEntry(
        id=eval_id,
        title=_line(fields, "title"),
        module=_read_record(Fields(fields.take("module"), fields.place("module"))),
        form=form,
        case_count=count,
        evaluators=tuple(
            _read_use(Fields(item, f"{fields.place('evaluators')}/{index}"))
            for index, item in enumerate(fields.items("evaluators"))
        ),
        description=fields.optional("description", fields.text),
        system_prompt=fields.optional("systemPrompt", fields.text),
        limits=Limits.read(fields.take("limits"), fields.place("limits")) if fields.has("limits") else NO_LIMITS,
        tools=None
        if tools is None
        else {name: Tool.read(item, f"{fields.place('tools')}/{name}") for name, item in tools.items()},
        case_file=case_file,
        transformer=transformer,
    )
    fields.end()
    return entry
