"""The built-in modules inside the realm give what Node itself gives: one module runs in both, and the results match."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.modules import graph_of, real_runtime
from tests.support.node import node
from tests.support.shared_data import COMMITTED
from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import ModuleRefusedError

MODULE = COMMITTED / "modules" / "builtins.mjs"

BY_NODE = """
import { pathToFileURL } from "node:url"
console.log(JSON.stringify((await import(pathToFileURL(process.argv[1]))).default))
"""


@pytest.fixture(scope="module")
def ours() -> dict[str, list[Json]]:
    runtime = real_runtime()
    (loaded,) = runtime.load([graph_of(runtime, MODULE.read_text(encoding="utf-8"), "t.mjs")])
    assert isinstance(loaded.value, dict)
    return loaded.value


@pytest.fixture(scope="module")
def of_node() -> dict[str, list[Json]]:
    answers: dict[str, list[Json]] = json.loads(node(BY_NODE, str(Path(MODULE))))
    return answers


@pytest.mark.parametrize("group", ["crypto", "buffer", "text", "path", "url", "util", "assert", "zlib"])
def test_same_as_node(group: str, ours: dict[str, list[Json]], of_node: dict[str, list[Json]]) -> None:
    assert of_node[group]
    assert ours[group] == of_node[group]


@pytest.mark.parametrize("name", ["randomBytes", "randomUUID", "randomInt", "getRandomValues", "generateKeySync"])
def test_nothing_random_is_in_reach(name: str) -> None:
    runtime = real_runtime()
    text = f"import crypto from 'node:crypto'\nconst name = '{name}'; let v = 1\n"
    text += "try { v = crypto[name](8) } catch {}\nexport default v"
    with pytest.raises(ModuleRefusedError, match=name):
        runtime.load([graph_of(runtime, text, "t.mjs")])
