"""Graphs of modules from a tree: what is read, what is found, all at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pytest

from tests.fakes.runtime import FakeRuntime
from tests.fakes.trees import MemoryTree
from trunchbuild.core.modules import ModuleBrokenError, ModuleGraph, ModuleRefusedError
from trunchbuild.core.policy import survey_module
from trunchbuild.core.survey import Survey
from trunchbuild.core.tree import MissingFileError, NotAFileError
from trunchbuild.errors import BadInputError, TrunchbuildError
from trunchbuild.flows.modules import load_graph


class ReadingRuntime(FakeRuntime):
    """Reads JavaScript as it stands; counts how often it is asked."""

    asked = 0

    def survey(self, sources: Mapping[str, str]) -> Mapping[str, Survey]:
        self.asked += 1
        return {path: survey_module(path, text) for path, text in sources.items()}


def graph(files: Mapping[str, str | bytes], entry: str = "a.js") -> ModuleGraph:
    return load_graph(MemoryTree(files), entry, ReadingRuntime())


def failure(files: Mapping[str, str | bytes], entry: str = "a.js") -> TrunchbuildError:
    with pytest.raises(TrunchbuildError) as caught:
        graph(files, entry)
    return caught.value


def test_the_closed_graph() -> None:
    files = {
        "x/a.js": "import { b } from './b'; import data from '../d.json'\n"
        "import { createHash } from 'crypto'; import './a.js'",
        "x/b.mjs": "export { c as b } from './c/index.js'",
        "x/c/index.js": "import './../a.js'; export const c = 1",
        "d.json": "\ufeff[1]",
        "unused.js": "Math.random()",
    }
    found = graph(files, "x/a.js")
    assert found.entry == "x/a.js"
    assert list(found.modules) == ["d.json", "x/a.js", "x/b.mjs", "x/c/index.js"]
    assert [module.kind for module in found.modules.values()] == ["json", "javascript", "javascript", "javascript"]
    assert found.links == {
        ("x/a.js", "../d.json"): "d.json",
        ("x/a.js", "./a.js"): "x/a.js",
        ("x/a.js", "./b"): "x/b.mjs",
        ("x/a.js", "crypto"): "node:crypto",
        ("x/b.mjs", "./c/index.js"): "x/c/index.js",
        ("x/c/index.js", "./../a.js"): "x/a.js",
    }
    assert found.modules["d.json"].text == "[1]"
    assert found.modules["d.json"].sha256 == hashlib.sha256(b"\xef\xbb\xbf[1]").hexdigest()


def test_files_are_announced_and_read_wave_by_wave() -> None:
    names = [f"m{number}.js" for number in range(10)]
    files = dict.fromkeys(names, "export default 1") | {"a.js": "".join(f"import './{name}'\n" for name in names)}
    tree, runtime = MemoryTree(files), ReadingRuntime()
    load_graph(tree, "a.js", runtime)
    assert set(tree.prefetched) == set(tree.opened) == set(files)
    assert len(tree.opened) <= 2 * len(files)
    assert runtime.asked == 2


def test_findings_of_all_modules_and_both_kinds_come_together_in_order() -> None:
    files = {
        "a.js": "import './b'\nimport './gone'\nimport 'zod'\nMath.random()",
        "b.js": "import { nope, yes } from './c'\nprocess.env",
        "c.js": "export const yes = 1",
    }
    error = failure(files)
    assert isinstance(error, ModuleRefusedError)
    assert [fault.place for fault in error.faults] == ["a.js:2:8", "a.js:3:8", "a.js:4:1", "b.js:1:10", "b.js:2:1"]


def test_what_is_only_broken_is_told_apart() -> None:
    error = failure({"a.js": "import { x } from './b'\nimport './c'", "b.js": "export const y = 1"})
    assert isinstance(error, ModuleBrokenError)
    assert [fault.place for fault in error.faults] == ["a.js:1:10", "a.js:2:8"]


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({"a.js": "import d, { e } from './b'", "b.js": "export const e = 1"}, ["default"]),
        ({"a.js": "import { e } from './b'", "b.js": "export * from './c'", "c.js": "export const e = 1"}, []),
        ({"a.js": "import e from './b'", "b.js": "export * from './c'", "c.js": "export default 1"}, ["default"]),
        ({"a.js": "import { e } from './b'", "b.js": "export * from './c'", "c.js": "export * from './b'"}, ["e"]),
        ({"a.js": "import { e } from './b'", "b.js": "export * from 'node:path'"}, []),
        ({"a.js": "import d, { e } from './b.json'", "b.json": "{}"}, ["e"]),
        ({"a.js": "export { e as f } from './b'", "b.js": ""}, ["e"]),
        ({"a.js": "import * as all from './b'; all.anything", "b.js": ""}, []),
    ],
)
def test_imported_names_are_exported(files: Mapping[str, str], missing: list[str]) -> None:
    """ECMA-262, ResolveExport: `export *` passes on everything but the default."""
    if not missing:
        graph(files)
        return
    assert [fault.message.split("`")[3] for fault in failure(files).faults] == missing


def test_json_is_checked() -> None:
    error = failure({"a.js": "import './b.json'", "b.json": '{"a": 1,\n "b": }'})
    assert isinstance(error, ModuleBrokenError)
    assert error.faults[0].place.startswith("b.json:2")


def test_text_must_be_utf8() -> None:
    assert "offset 2" in str(failure({"a.js": b"//\xff"}))


def test_a_symbolic_link_says_so_itself() -> None:
    class Linked(MemoryTree):
        def read(self, path: str) -> bytes:
            if path == "link.json":
                raise NotAFileError("a symbolic link", place=path)
            return super().read(path)

    with pytest.raises(ModuleBrokenError, match="a symbolic link"):
        load_graph(Linked({"a.js": "import './link.json'"}), "a.js", ReadingRuntime())


@pytest.mark.parametrize(
    ("entry", "kind"), [("missing.js", MissingFileError), ("a.txt", BadInputError), ("a", BadInputError)]
)
def test_entries_that_are_no_modules(entry: str, kind: type[TrunchbuildError]) -> None:
    assert isinstance(failure({"a.txt": "", "a": ""}, entry), kind)


def test_python_entries_go_to_the_python_resolver() -> None:
    found = graph({"t.py": "name = 't'\n\ndef transform(sources):\n    return []\n"}, "t.py")
    assert (found.language, found.entry, list(found.modules)) == ("python", "t.py", ["t.py"])
