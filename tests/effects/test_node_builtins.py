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


def _answers(expressions: list[str]) -> str:
    """A module that evaluates each expression and exports [expression, value or error as text]."""
    head = (MODULE.parent / "expressions-head.mjs").read_text(encoding="utf-8")
    calls = [f"await t({json.dumps(one)}, () => ({one}))\n" for one in expressions]
    return "".join([head, *calls, "export default out\n"])


def test_expressions_give_what_node_gives(tmp_path: Path) -> None:
    """Values, texts, comparisons, and the name, code and message of each error."""
    lines = (MODULE.parent / "expressions.txt").read_text(encoding="utf-8").splitlines()
    expressions = [line for line in lines if line and not line.startswith("//")]
    module = _answers(expressions)
    file = tmp_path / "expressions.mjs"
    file.write_text(module, encoding="utf-8")
    expected = json.loads(node(BY_NODE, str(file)))
    runtime = real_runtime()
    (loaded,) = runtime.load([graph_of(runtime, module, "t.mjs")])
    assert isinstance(loaded.value, list)
    assert [expression for expression, _ in expected] == expressions
    differing = [(one, two) for one, two in zip(loaded.value, expected, strict=True) if one != two]
    assert differing == []


@pytest.mark.parametrize(
    "expression",
    [
        "path.resolve('x')",
        "path.relative('/a', 'b')",
        "path.win32.resolve('C:x')",
        "path.win32.toNamespacedPath('x')",
        "url.pathToFileURL('x').href",
    ],
)
def test_the_working_folder_is_not_in_reach(expression: str) -> None:
    """`path.resolve('/a', 'x')` and `path.relative('a', '../b')` ask for none: they are among the expressions."""
    runtime = real_runtime()
    text = (
        f"import path from 'node:path'\nimport url from 'node:url'\nlet v = 1\ntry {{ v = {expression} }} catch {{}}\n"
    )
    with pytest.raises(ModuleRefusedError, match="relative to the working folder"):
        runtime.load([graph_of(runtime, f"{text}export default v", "t.mjs")])


@pytest.mark.parametrize("name", ["randomBytes", "randomUUID", "randomInt", "getRandomValues", "generateKeySync"])
def test_nothing_random_is_in_reach(name: str) -> None:
    runtime = real_runtime()
    text = f"import crypto from 'node:crypto'\nconst name = '{name}'; let v = 1\n"
    text += "try { v = crypto[name](8) } catch {}\nexport default v"
    with pytest.raises(ModuleRefusedError, match=name):
        runtime.load([graph_of(runtime, text, "t.mjs")])
