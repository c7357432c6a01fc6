"""Which modules are read ahead; a wrong guess changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.fakes.runtime import FakeRuntime
from tests.fakes.trees import MemoryTree
from trunchbuild.core.survey import Survey
from trunchbuild.flows.read_ahead import read_ahead


class Recorder(FakeRuntime):
    """Notes what it was asked to read."""

    asked: list[list[str]]

    def survey(self, sources: Mapping[str, str]) -> Mapping[str, Survey]:
        self.asked.append(sorted(sources))
        return super().survey(sources)


def ahead(files: Mapping[str, str | bytes], *paths: str) -> list[list[str]]:
    runtime = Recorder()
    runtime.asked = []
    read_ahead(MemoryTree(files), paths, runtime)
    return runtime.asked


def test_imports_are_followed_and_asked_for_at_once() -> None:
    files = {
        "t/a.ts": "import { b } from './b'\nexport * from \"../c.ts\"\nimport './d.mjs'\n",
        "t/b.ts": "import './a'\n",
        "c.ts": "",
        "t/d.mjs": "import '../e.mts'\n",
        "e.mts": "",
        "other.ts": "",
    }
    assert ahead(files, "t/a.ts") == [["c.ts", "e.mts", "t/a.ts", "t/b.ts"]]


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ({"a.ts": "import './nowhere'\n"}, ["a.ts"]),
        ({"a.ts": "import '../../etc/passwd'\nimport fs from 'node:fs'\n"}, ["a.ts"]),
        ({"a.ts": "import './b'\n", "b.ts": b"\xff"}, ["a.ts"]),
        ({"a.mjs": "import './b.mjs'\n", "b.mjs": ""}, ["a.mjs"]),
        ({}, ["a.ts"]),
        ({}, []),
    ],
)
def test_one_module_or_none_is_left_to_whoever_needs_it(files: dict[str, str | bytes], paths: list[str]) -> None:
    assert ahead(files, *paths) == []


def test_many_entries_and_an_end() -> None:
    assert ahead({"a.ts": "", "b.ts": ""}, "a.ts", "b.ts", "a.ts") == [["a.ts", "b.ts"]]
    chain = {f"m{n}.ts": f"import './m{n + 1}'\n" for n in range(400)}
    [asked] = ahead(chain, "m0.ts")
    assert len(asked) == 200
