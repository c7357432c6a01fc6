"""Receipts and reports as Node writes them: `JSON.stringify` of what the contract says, from the files alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.support.node import node

_RECEIPT = """
import fs from "node:fs"
import { createHash } from "node:crypto"
const [folder, name, transformer, sources, output] = JSON.parse(process.argv[1])
process.chdir(folder)
const bytes = (path) => fs.readFileSync(path)
const sha256 = (path) => createHash("sha256").update(bytes(path)).digest("hex")
process.stdout.write(JSON.stringify({
  protocolVersion: 1,
  transformer: { name, path: transformer, sha256: sha256(transformer) },
  sources: Object.fromEntries(Object.keys(sources).sort().map((key) => [key, {
    path: sources[key], sha256: sha256(sources[key]), bytes: bytes(sources[key]).length }])),
  caseCount: bytes(output).toString("latin1").split("\\n").length - 1,
  output: { path: output, format: "jsonl", sha256: sha256(output) },
}, null, 2) + "\\n")
"""
_VALUE = 'process.stdout.write(JSON.stringify(JSON.parse(process.argv[1]), null, 2) + "\\n")'


def receipt(folder: Path, *, name: str, transformer: str, sources: Mapping[str, str], output: str) -> str:
    """The receipt of a JSONL export in `folder`; paths are relative to it."""
    return node(_RECEIPT, json.dumps([str(folder), name, transformer, sources, output]))


def indented(value: object) -> str:
    """A value as `JSON.stringify(value, null, 2)` and a line feed."""
    return node(_VALUE, json.dumps(value))
