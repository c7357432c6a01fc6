"""Positions through an inline source map; the maps here are written by hand from ECMA-426's rules."""

from __future__ import annotations

import base64
import json

import pytest

from tests.support.node import node
from trunchbuild.core.source_map import original_position


def mapped(code: str, mappings: str) -> str:
    document = json.dumps({"version": 3, "sources": ["a.ts"], "names": [], "mappings": mappings})
    encoded = base64.b64encode(document.encode()).decode()
    return f"{code}\n//# sourceMappingURL=data:application/json;base64,{encoded}"


def test_segments_are_relative_to_the_ones_before() -> None:
    """`AAAA` is (0, 0, 0, 0); `IACE` moves by column 4, source 0, line 1, column 2; `;` starts a line."""
    text = mapped("aaaabbbb\ncccc", "AAAA,IACE;AACA")
    assert original_position(text, 1, 1) == (1, 1)
    assert original_position(text, 1, 4) == (1, 1)
    assert original_position(text, 1, 5) == (2, 3)
    assert original_position(text, 2, 1) == (3, 3)


def test_long_and_negative_numbers() -> None:
    """`gB` is 16, `D` is -1; `+/////B` is 2^30 - 1 and 7 digits, which is as long as ECMA-426 lets a number be."""
    assert original_position(mapped("a", "AA+/////BA"), 1, 1) == (2**30, 1)
    text = mapped("x" * 40, "AAgBgB,gBAAD")
    assert original_position(text, 1, 1) == (17, 17)
    assert original_position(text, 1, 17) == (17, 16)


def test_lines_without_segments_belong_to_the_one_before() -> None:
    text = mapped("a\nb", "AAEA;")
    assert original_position(text, 2, 1) == (3, 1)


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "//# sourceMappingURL=data:application/json;base64,%%%",
        "//# sourceMappingURL=data:application/json;base64,e30=",
        "//# sourceMappingURL=data:application/json;base64,e30=\ncode after it",
        mapped("a", "!!!!"),
        mapped("a", "g"),
        mapped("a", "AAgggggggA"),
        mapped("a", "AA" + "/" * 20_000 + "A"),
        "//# sourceMappingURL=data:application/json;base64," + base64.b64encode(b"[" * 100_000).decode(),
        "//# sourceMappingURL=data:application/json;base64," + base64.b64encode(b'{"mappings":[3]}').decode(),
    ],
)
def test_without_a_map_positions_stay(text: str) -> None:
    assert original_position(text, 7, 9) == (7, 9)


def test_the_answers_are_those_of_node() -> None:
    """Node's own `SourceMap` reads what Node's own stripping wrote, at the start of every word."""
    source = (
        "enum Kind { Easy, Hard = 5 }\nconst a: number = Kind.Hard\n\nexport default { name: 'x', n: a as number }\n"
    )
    script = """
import { SourceMap, stripTypeScriptTypes } from "node:module"
const text = stripTypeScriptTypes(process.argv[1], { mode: "transform", sourceMap: true, sourceUrl: "a.ts" })
const payload = JSON.parse(atob(text.slice(text.lastIndexOf("base64,") + 7)))
const map = new SourceMap(payload)
const answers = []
text.split("\\n").forEach((code, row) => {
  if (code.startsWith("//#")) return
  for (const { index } of code.matchAll(/\\w+/g)) {
    const entry = map.findEntry(row, index)
    const { originalLine: line, originalColumn: column } = entry
    if (line !== undefined) answers.push([row + 1, index + 1, line + 1, column + 1])
  }
})
process.stdout.write(JSON.stringify([text, answers]))
"""
    text, answers = json.loads(node(script, source))
    assert len(answers) > 10
    for line, column, original_line, original_column in answers:
        assert original_position(text, line, column) == (original_line, original_column)


def test_a_damaged_map_never_leads_before_the_file() -> None:
    """`D` is -1 in Base64 VLQ (Source Map Revision 3): line and column would be 0, which no file has."""
    mappings = json.dumps({"version": 3, "mappings": "AADD"})
    text = "x\n//# sourceMappingURL=data:application/json;base64," + base64.b64encode(mappings.encode()).decode()
    assert original_position(text, 1, 1) == (1, 1)
