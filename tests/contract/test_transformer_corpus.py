"""The JavaScript half of the transformer corpus: every folder gets the class that its index expects."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus import check_corpus_entry, corpus_entries
from tests.support.modules import real_runtime
from tests.support.shared_data import CHECKOUT
from trunchbuild.core.confinement import Limits
from trunchbuild.effects.runtime._modules import ModuleRuntime

CORPUS = Path(os.environ.get("TRUNCHBUILD_TEST_DATA") or CHECKOUT.parent / "shared" / "data").parent / "corpus"
INDEX = CORPUS / "transformers" / "index.json"
LIMITS = Limits(wall_seconds=20.0, cpu_seconds=2, output_bytes=16 << 20)


@pytest.fixture(scope="module")
def runtime() -> ModuleRuntime:
    return real_runtime(limits=LIMITS)


@pytest.mark.parametrize("entry", corpus_entries(INDEX, "js"))
def test_every_folder_gets_its_class(entry: dict[str, Any], runtime: ModuleRuntime, tmp_path: Path) -> None:
    """R01, R03 among them. What is never right: accepted where it is not listed, or a crash."""
    check_corpus_entry(entry, INDEX.parent, tmp_path, runtime)
