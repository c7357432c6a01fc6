"""Corpora of Python transformers, and plain Python's word for what they give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_transformer_corpus import INDEX as SHARED
from tests.support.corpus import check_corpus_entry, check_twins, corpus_entries
from tests.support.modules import real_runtime
from tests.support.shared_data import COMMITTED
from trunchbuild.core.confinement import Limits
from trunchbuild.effects.runtime._modules import ModuleRuntime

CORPUS = COMMITTED / "corpus" / "python"
INDEX = CORPUS / "index.json"
ENTRIES = [parameter.values[0] for parameter in corpus_entries(INDEX, "py")]

# Less than a user has: endless ones end sooner, and memory is refused by the kernel, not used up.
LIMITS = Limits(wall_seconds=30.0, cpu_seconds=10, address_space_bytes=512 << 20, output_bytes=16 << 20)
SHORT = Limits(wall_seconds=30.0, cpu_seconds=1, address_space_bytes=512 << 20, output_bytes=16 << 20)


@pytest.fixture(scope="module")
def runtimes() -> dict[str, ModuleRuntime]:
    return {"limit": real_runtime(limits=SHORT), "": real_runtime(limits=LIMITS)}


@pytest.mark.parametrize("entry", corpus_entries(INDEX, "py"))
def test_every_folder_gets_its_class(entry: dict[str, Any], runtimes: dict[str, ModuleRuntime], tmp_path: Path) -> None:
    """R01, R18 among them. Where accepted, the exact text; where not, a message with a place and nothing written."""
    check_corpus_entry(entry, CORPUS, tmp_path, runtimes.get(entry["expect"]["class"], runtimes[""]))


@pytest.mark.parametrize("entry", corpus_entries(SHARED, "py"))
def test_every_folder_of_the_shared_corpus_gets_its_class(
    entry: dict[str, Any], runtimes: dict[str, ModuleRuntime], tmp_path: Path
) -> None:
    check_corpus_entry(entry, SHARED.parent, tmp_path, runtimes.get(entry["expect"]["class"], runtimes[""]))


def test_every_refused_one_has_an_accepted_twin() -> None:
    check_twins(ENTRIES, CORPUS)


def test_plain_python_gives_what_the_index_holds() -> None:
    """The index was not copied from our own output: Python itself, unconfined, writes the same text by `json.dumps`."""
    entries = [entry for entry in ENTRIES if entry["expect"].get("derived") == "python"]
    assert len(entries) > 25
    with ThreadPoolExecutor(2) as pool:
        for entry, text in zip(entries, pool.map(_by_python, entries), strict=True):
            assert text == entry["expect"]["output_text"], entry["name"]


def _by_python(entry: dict[str, Any]) -> str:
    command = [sys.executable, "-I", "-S", "-B", "-X", "utf8", CORPUS / "plain.py", entry["entry"]]
    # With the seed of hashes that chance gives.
    done = subprocess.run(
        [*command, json.dumps(entry["sources"])],
        cwd=CORPUS / entry["dir"],
        env={"PATH": os.environ.get("PATH", "")},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode("utf-8")
