"""The guest's JSON writer against the host's, which is proven against Node; they share no code."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import trunchbuild
from trunchbuild.core.ecmascript import number_text, stringify
from trunchbuild.errors import BadInputError


def guest_module(name: str) -> ModuleType:
    """A file of the guest; it is no part of the package."""
    path = Path(trunchbuild.__file__).parent / "guest" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"guest{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRITER = guest_module("_writer")

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
KEYS = TEXT | st.integers(0, 2**33).map(str) | st.sampled_from(["0", "00", "4294967294", "4294967295", "-1", "²"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


def line(value: object) -> bytes:
    writer = WRITER.Writer("t.py")
    data = writer.line(value, 0)
    assert writer.faults == []
    assert isinstance(data, bytes)
    return data


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_same_text_as_the_host_writes(value: Mapping[str, Any]) -> None:
    assert line(value).decode() == stringify(value)


@given(st.integers(-(10**25), 10**25))
def test_integers_are_accepted_exactly_when_their_double_has_the_same_digits(value: int) -> None:
    writer = WRITER.Writer("t.py")
    data = writer.line({"v": value}, 0)
    same_digits = number_text(float(value)) == str(value)
    assert (writer.faults == []) == same_digits
    if same_digits:
        assert data.decode() == f'{{"v":{value}}}'


@given(st.floats())
def test_floats_are_written_or_refused(value: float) -> None:
    writer = WRITER.Writer("t.py")
    data = writer.line({"v": value}, 0)
    try:
        expected = number_text(value)
    except BadInputError:
        assert [fault["place"] for fault in writer.faults] == ["t.py /0/v"]
    else:
        assert data.decode() == f'{{"v":{expected}}}'
        assert float(json.loads(data)["v"]) == value
