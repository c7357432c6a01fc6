"""Whole commands share one home folder, so that probing the sandbox and reading modules is paid for once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.bad_input import Bad, run_bad


@pytest.fixture(scope="session")
def warm_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def see_refused(
    tmp_path: Path, warm_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Bad], None]:
    """Run a bad input's command in a folder of its own."""
    monkeypatch.setenv("TRUNCHBUILD_HOME", str(warm_home))
    return lambda bad: run_bad(bad, tmp_path, capsys, monkeypatch)
