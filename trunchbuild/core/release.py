"""The names of a release: its digest, its shown form, and the digest of its cases alone."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.manifest import MODULES, EvalEntry, Manifest, ReleaseFile, eval_json

CASES_TYPE = "trunchbuild.cases/v1"

_NOT_NAME = re.compile(r"[^a-z0-9]+")
_NOT_VERSION = re.compile(r"[^0-9A-Za-z.+_-]+")
_NAME_LENGTH = 64


def release_digest(manifest: bytes) -> ReleaseId:
    """The digest of a release: SHA-256 of `manifest.json`."""
    return Digest(hashlib.sha256(manifest).hexdigest())


def release_name(manifest: Manifest) -> str:
    """The name of a release line, from content alone.

    The benchmark's title in ASCII: accents dropped (NFKD), lower case, everything else than letters and digits becomes
    one `-`, at most 64 characters. A title that leaves nothing (`算数`) gives way to the name of the config's folder,
    then to `benchmark`.
    """
    folder = manifest.source.config.rpartition("/")[0].rpartition("/")[2]
    return slug(manifest.benchmark.title) or slug(folder) or "benchmark"


def slug(text: str) -> str:
    """The text as part of a file name; empty where nothing of it is ASCII."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _NOT_NAME.sub("-", plain).strip("-")[:_NAME_LENGTH].rstrip("-")


def release_version(manifest: Manifest) -> str:
    """The author's version as part of a file name; characters that no semantic version has become `-`."""
    return _NOT_VERSION.sub("-", manifest.benchmark.version).strip(".-") or "0"


def shown(manifest: Manifest, digest: ReleaseId) -> str:
    """`<name>-<version>-<first 12 hex digits>`, for people and folder names."""
    return f"{release_name(manifest)}-{release_version(manifest)}-{digest.short}"


def case_digest(public: bytes, private: bytes) -> Digest:
    """The digest of one case: SHA-256 over its public line, LF, its private line."""
    return Digest(hashlib.sha256(public + b"\n" + private).hexdigest())


def cases_digest(manifest: Manifest, cases: Iterable[Digest]) -> Digest:
    """The `cases-sha256`: SHA-256 over one canonical line of evals, then each case's digest in hex, all ended by LF.

    The line of evals holds what a run or grader sees of them, with modules by content: no path, title or source. So it
    stays when only a README, a comment in a transformer or a folder's name changed, and two releases with the same one
    give the same questions and the same verdicts.
    """
    modules = {entry.path: entry for entry in manifest.files}
    evals: list[Json] = [_graded(entry, modules) for entry in manifest.evals]
    head: JsonObject = {
        "type": CASES_TYPE,
        "protocolVersion": manifest.protocol_version,
        "evals": evals,
        "modules": sorted(entry.sha256 for entry in manifest.files if entry.path.startswith(MODULES)),
    }
    digest = hashlib.sha256(canonical_bytes(head) + b"\n")
    for case in cases:
        digest.update(case.hex.encode() + b"\n")
    return Digest(digest.hexdigest())


def _graded(entry: EvalEntry, modules: dict[str, ReleaseFile]) -> JsonObject:
    """What is left of an eval when paths and words for people are gone."""
    full = eval_json(entry)
    kept: dict[str, Json] = {name: full[name] for name in ("id", "systemPrompt", "limits") if name in full}
    kept["count"] = entry.case_count
    kept["tools"] = {
        name: {
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "sha256": None if tool.module is None else _content(tool.module, modules),
        }
        for name, tool in (entry.tools or {}).items()
    }
    kept["evaluators"] = [
        {
            "kind": use.kind,
            "cases": use.cases,
            "sha256": None if use.module is None else _content(use.module, modules),
            "member": use.member,
        }
        for use in entry.evaluators
    ]
    return kept


def _content(module: str, modules: dict[str, ReleaseFile]) -> str | None:
    entry = modules.get(MODULES + module)
    return None if entry is None else entry.sha256
