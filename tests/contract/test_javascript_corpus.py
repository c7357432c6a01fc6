"""Our own corpus of JavaScript and TypeScript transformers, and plain Node's word for what they give."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus import check_corpus_entry, check_twins, corpus_entries
from tests.support.modules import real_runtime
from tests.support.shared_data import COMMITTED
from trunchbuild.core.confinement import Limits
from trunchbuild.effects.runtime._modules import ModuleRuntime
from trunchbuild.effects.runtime._node_layout import ENVIRONMENT, node_program

CORPUS = COMMITTED / "corpus" / "javascript"
INDEX = CORPUS / "index.json"
ENTRIES = [parameter.values[0] for parameter in corpus_entries(INDEX, "js")]
LIMITS = Limits(wall_seconds=30.0, cpu_seconds=10, output_bytes=16 << 20)
SHORT = Limits(wall_seconds=30.0, cpu_seconds=1, output_bytes=16 << 20)


@pytest.fixture(scope="module")
def runtimes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModuleRuntime]:
    cache = tmp_path_factory.mktemp("cache")
    return {"limit": real_runtime(cache, SHORT), "": real_runtime(cache, LIMITS)}


@pytest.mark.parametrize("entry", corpus_entries(INDEX, "js"))
def test_every_folder_gets_its_class(entry: dict[str, Any], runtimes: dict[str, ModuleRuntime], tmp_path: Path) -> None:
    """Where accepted, the exact text; where not, a message with a place and nothing written."""
    runtime = runtimes.get(entry["expect"]["class"], runtimes[""])
    check_corpus_entry(entry, CORPUS, tmp_path, runtime)


def test_every_refused_one_has_an_accepted_twin() -> None:
    check_twins(ENTRIES, CORPUS)


def test_plain_node_gives_what_the_index_holds() -> None:
    """The index was not copied from our own output: Node itself, unconfined, writes the same text."""
    entries = [entry for entry in ENTRIES if entry["expect"].get("derived") == "node"]
    assert len(entries) > 30
    with ThreadPoolExecutor(2) as pool:
        for entry, text in zip(entries, pool.map(_by_node, entries), strict=True):
            assert text == entry["expect"]["output_text"], entry["name"]


def _by_node(entry: dict[str, Any]) -> str:
    command = [node_program(), "--no-warnings", "--experimental-transform-types", CORPUS / "plain.mjs", entry["entry"]]
    # Not the surroundings of whoever runs the tests: the same locale and zone as inside.
    done = subprocess.run(
        [*command, json.dumps(entry["sources"])],
        cwd=CORPUS / entry["dir"],
        env=dict(ENVIRONMENT),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode("utf-8")
