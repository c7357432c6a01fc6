"""The folder of one run: where it stands, what its files are called, how they are read and written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from trunchbuild.core.fields import Fields
from trunchbuild.core.ids import RunId
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.run_spec import RunSpec, differences, read_run_spec
from trunchbuild.core.strict_json import read_json
from trunchbuild.effects.files.api import Files, NewFile
from trunchbuild.errors import BadInputError

RUN_FILE_TYPE = "trunchbuild.run-file/v1"

RUN = "run.json"
RESULTS = "results.jsonl"
REPLIES = "replies.jsonl"
SUMMARY = "summary.json"

_LONGEST_NAME = 120
"""Characters of a folder's name; file systems take 255 bytes."""


class NotARunError(BadInputError):
    """A folder holds no run, or one that this build cannot read."""

    slug = "not-a-run"


@dataclass(frozen=True, slots=True)
class RunFile:
    """What `run.json` states. The record says how and where the run was made; no digest covers it."""

    spec: RunSpec
    partial: bool
    """Whether some cases of the release are left out."""
    record: JsonObject

    @property
    def run_id(self) -> RunId:
        """The digest of the spec."""
        return self.spec.run_id

    def json(self) -> JsonObject:
        """The file as a value."""
        return {
            "type": RUN_FILE_TYPE,
            "run": str(self.run_id),
            "partial": self.partial,
            "imported": self.spec.imported,
            "spec": self.spec.json(),
            "record": self.record,
        }


def run_folder(out: Path, release_shown: str, spec: RunSpec) -> Path:
    """`OUT/<name>-<version>-<12 hex>/<label>/<model>/<run id 12>`; label and model percent-encoded."""
    return out / release_shown / as_name(spec.label) / as_name(spec.model) / spec.run_id.short


def as_name(text: str) -> str:
    """Any text as one folder name: percent-encoded; no name of dots alone; long ones end in a digest's first digits."""
    name = quote(text, safe="")
    if not name.strip("."):
        name = name.replace(".", "%2E") or "%00"
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME - 17]}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return name


def is_run_folder(folder: Path, files: Files) -> bool:
    """Whether a folder holds a run."""
    return files.is_folder(folder) and files.exists(folder / RUN)


def read_run_file(folder: Path, files: Files) -> RunFile:
    """Read `run.json`.

    Raises:
        NotARunError: There is none, or none that this build reads, or its run id is not that of its spec.
    """
    place = str(folder / RUN)
    if not files.exists(folder / RUN):
        raise NotARunError("not a run's folder", place=str(folder), expected=f"a file `{RUN}`")
    fields = Fields(read_json(files.read(folder / RUN), place), place)
    fields.literal("type", RUN_FILE_TYPE)
    stated = fields.text("run")
    spec = read_run_spec(fields.take("spec"), fields.place("spec"))
    run_file = RunFile(spec, fields.boolean("partial"), fields.mapping("record"))
    imported = fields.boolean("imported")
    fields.end()
    if stated != str(spec.run_id):
        raise NotARunError(
            "the run id is not that of the run's spec", place=place, expected=str(spec.run_id), got=stated
        )
    if imported != spec.imported:
        raise NotARunError("`imported` is not what the spec says", place=place, expected=str(spec.imported).lower())
    return run_file


def begin_run(folder: Path, new: RunFile, files: Files) -> RunFile:
    """Write `run.json` for a new run, or check that the folder's run is this one; returns what the file states.

    Raises:
        BadInputError: The folder holds a run of another spec; the message lists the difference.
    """
    if not files.exists(folder / RUN):
        write_json(folder, {RUN: new.json()}, files)
        return new
    old = read_run_file(folder, files)
    if old.spec != new.spec:
        raise BadInputError(
            "the folder holds a run with another spec",
            place=str(folder),
            got="; ".join(differences(old.spec, new.spec)),
            hint="`--fresh` moves it aside",
        )
    return old


def write_json(folder: Path, documents: Mapping[str, JsonObject], files: Files) -> None:
    """Write JSON files of the folder, all or none."""
    files.replace([NewFile(folder / name, [pretty(value)]) for name, value in documents.items()])


def write_outcome(
    folder: Path, results: Iterable[bytes], replies: Iterable[bytes] | None, summary: JsonObject, files: Files
) -> None:
    """Write results, replies (None: they are not to be kept) and summary, all or none."""
    new = [NewFile(folder / RESULTS, results)]
    if replies is not None:
        new.append(NewFile(folder / REPLIES, replies))
    new.append(NewFile(folder / SUMMARY, [pretty(summary)]))
    files.replace(new)


def pretty(value: Json) -> bytes:
    """Strict JSON for people: indented, not escaped, one final newline."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
