"""One small release in a store, shared by the tests of a file; each test gets a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.releases import add_release, export
from trunchbuild.core.ids import ReleaseId
from trunchbuild.effects.store._disk import DiskStore


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> DiskStore:
    return DiskStore(tmp_path_factory.mktemp("home") / "store")


@pytest.fixture(scope="module")
def release(store: DiskStore) -> ReleaseId:
    return add_release(store)


@pytest.fixture
def folder(store: DiskStore, release: ReleaseId, tmp_path: Path) -> Path:
    return export(store, release, tmp_path / "release")
