"""What the host says to the Node guest; the other side is `guest/run.mjs`."""

from __future__ import annotations

import json

from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import ModuleGraph


def graph_json(graph: ModuleGraph) -> dict[str, Json]:
    """A closed module graph as the guest reads it."""
    return {
        "entry": graph.entry,
        "modules": {path: {"kind": module.kind, "text": module.text} for path, module in graph.modules.items()},
        "links": [[path, specifier, target] for (path, specifier), target in graph.links.items()],
    }


def line(value: Json) -> bytes:
    r"""One JSON document as one line, without the `\n`."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
