from __future__ import annotations

import json
from typing import Any, Iterable

from .lib import ids
from .lib.clean import clean as tidy
from .lib.errors import BadRow

name = "dialogue"

Row = dict[str, Any]


def turns(row: Row) -> Iterable[str]:
    for turn in row.get("turns", ()):
        who, said = turn["who"], tidy(turn["said"])
        yield f"{who.capitalize()}: {said}"


def checked(rows: Iterable[Row]):
    seen: set[str] = set()
    for position, row in enumerate(rows):
        if (key := row.get("id")) in seen:
            raise BadRow(position, f"id {key!r} again")
        seen.add(key)
        yield row
    assert len(seen) == len(sorted(seen))


def transform(sources: dict[str, dict[str, str]]) -> list[Row]:
    rows = (json.loads(line) for line in sources["rows"]["content"].split("\n") if line)
    out: list[Row] = []
    for row in checked(rows):
        lines = [*turns(row)]
        first, *_, last = lines if len(lines) > 1 else (lines or [""]) * 2
        out.append({"id": ids.short(row["id"]), "prompt": "\n".join(lines[:-1]), "first": first, "expected": last.split(": ", 1)[-1],
                    "tags": {**row.get("tags", {}), "turns": len(lines)}})
    try:
        list(checked([{"id": 1}, {"id": 1}]))
    except BadRow as bad:
        out.append({"id": "bad", "text": str(bad), "row": bad.row})
    return out
