"""The files that one transform leaves behind: cases as JSON lines or as an array, and the receipt."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from trunchbuild.core.ecmascript import stringify
from trunchbuild.core.loaded import SourceRecord, TransformerRecord
from trunchbuild.core.receipt import RECEIPT_ENDING, ExportFormat, Receipt
from trunchbuild.effects.files.api import NewFile
from trunchbuild.flows.transform import TransformerRun

_CHUNK = 1 << 20


def receipt_path(output: Path) -> Path:
    """Where the receipt of an export stands."""
    return output.with_name(f"{output.name}{RECEIPT_ENDING}")


def export_files(
    run: TransformerRun, *, output: Path, form: ExportFormat, root: Path, base: Path, with_receipt: bool
) -> list[NewFile]:
    """The export and, if wanted, its receipt; nothing is written yet.

    All paths are absolute: `root` is the folder that the run's paths are relative to, `base` the one that the receipt's
    paths shall be relative to.
    """
    if form == "jsonl":
        sha256 = run.output.sha256
        export = NewFile(output, _Chunks(run.output.jsonl))
    else:
        array = f"{stringify([value for _, value in run.placed()], 2)}\n".encode()
        sha256 = hashlib.sha256(array).hexdigest()
        export = NewFile(output, [array])
    if not with_receipt:
        return [export]
    receipt = Receipt(
        transformer=_relative(run.record, root, base),
        case_count=run.output.count,
        output_path=posixpath.relpath(str(output), str(base)),
        output_format=form,
        output_sha256=sha256,
    )
    return [export, NewFile(receipt_path(output), [receipt.to_bytes()])]


def _relative(record: TransformerRecord, root: Path, base: Path) -> TransformerRecord:
    """The record with its paths relative to `base`."""

    def moved(path: str) -> str:
        return posixpath.relpath(posixpath.join(str(root), path), str(base))

    return replace(
        record,
        path=moved(record.path),
        modules=tuple(replace(module, path=moved(module.path)) for module in record.modules),
        sources=tuple(
            SourceRecord(source.name, replace(source.file, path=moved(source.file.path))) for source in record.sources
        ),
    )


class _Chunks:
    """A file's bytes from its start; may be read again."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        while chunk := self._file.read(_CHUNK):
            yield chunk
