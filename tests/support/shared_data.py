"""Where full data sets are looked for: too large for the repository, and not needed for what matters."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
COMMITTED = CHECKOUT / "tests" / "data"


def shared_data(name: str) -> Path:
    """The file or folder `name` of the full data, or skip: `$TRUNCHBUILD_TEST_DATA`, else `../shared/data`."""
    folder = Path(os.environ.get("TRUNCHBUILD_TEST_DATA") or CHECKOUT.parent / "shared" / "data")
    path = folder / name
    if not path.exists():
        pytest.skip("data not here")
    return path
