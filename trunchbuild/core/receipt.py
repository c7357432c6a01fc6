"""The receipt of one export: what it was made from and what came out, in bytes that are part of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trunchbuild.core.ecmascript import stringify
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import TransformerRecord

ExportFormat: TypeAlias = Literal["jsonl", "json"]

RECEIPT_ENDING = ".manifest.json"
"""Follows the export's own name."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One export. Paths are relative to the batch manifest, or for a single transform to the current folder."""

    transformer: TransformerRecord
    case_count: int
    output_path: str
    output_format: ExportFormat
    output_sha256: str
    """Bare hex, of the export's bytes."""

    def json(self) -> JsonObject:
        """The value, its members in the contract's order."""
        record = self.transformer
        entry = next(module for module in record.modules if module.path == record.path)
        sources: Mapping[str, Json] = {
            source.name: {"path": source.file.path, "sha256": source.file.sha256, "bytes": source.file.bytes}
            # ECMAScript's sort compares UTF-16 code units.
            for source in sorted(record.sources, key=lambda source: source.name.encode("utf-16-be", "surrogatepass"))
        }
        return {
            "protocolVersion": 1,
            "transformer": {"name": record.name, "path": record.path, "sha256": entry.sha256},
            "sources": sources,
            "caseCount": self.case_count,
            "output": {"path": self.output_path, "format": self.output_format, "sha256": self.output_sha256},
        }

    def to_bytes(self) -> bytes:
        r"""`JSON.stringify(receipt, null, 2)` and LF."""
        return f"{stringify(self.json(), 2)}\n".encode()
