"""Canonical JSON: the vectors of RFC 8785, equality with the reference implementation, refusals."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.canonical import canonical_bytes, digest_of
from trunchbuild.core.json_types import Json
from trunchbuild.errors import BadInputError


def test_sorting_example_of_the_rfc() -> None:
    """RFC 8785, 3.2.3: keys sort by UTF-16 code units."""
    value = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\x80": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    written = canonical_bytes(value).decode()
    order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
    assert sorted(order, key=written.index) == order


def test_primitives_example_of_the_rfc() -> None:
    """RFC 8785, 3.2.2: input and expected text as printed there."""
    value: Json = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": '\u20ac$\u000f\u000aA\'B"\\\\"/',
        "literals": [None, True, False],
    }
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical_bytes(value).decode() == expected


SCALARS = st.none() | st.booleans() | st.text() | st.integers(-(2**53) + 1, 2**53 - 1)
KEYS = st.text(st.sampled_from('ab\x00"\\\x7fé\ud7ff\ue000\uffff\U00010000\U0010ffff'), max_size=3)


def values(scalars: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=12
    )


@given(values(SCALARS) | values(SCALARS | st.floats(allow_nan=False, allow_infinity=False)))
def test_fast_path_equals_the_reference(value: Json) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    "value",
    [(1, ("a",)), {"a": Colour.RED}, {"a": MappingProxyType({"b": [1.5]})}, {"\U0001f600": MappingProxyType({})}],
)
def test_other_containers_are_written_like_plain_ones(value: Json) -> None:
    """Tuples, read-only mappings and string enumerations are the JSON values that they hold."""
    plain = {
        "(1, ('a',))": b'[1,["a"]]',
        "{'a': <Colour.RED: 'red'>}": b'{"a":"red"}',
        "{'a': mappingproxy({'b': [1.5]})}": b'{"a":{"b":[1.5]}}',
        "{'\U0001f600': mappingproxy({})}": '{"\U0001f600":{}}'.encode(),
    }
    assert canonical_bytes(value) == plain[repr(value)]


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), 2**53, -(2**53), "\ud800", {"\udfff": 1}, {1: 2}, {"a": {2: 3}}, {"a": object()}],
)
def test_values_without_a_canonical_form(value: Json) -> None:
    with pytest.raises(BadInputError, match="canonical"):
        canonical_bytes(value)


def test_deep_nesting_and_cycles_are_errors() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    cycle: dict[str, object] = {}
    cycle["self"] = cycle
    for value in (deep, cycle):
        with pytest.raises(BadInputError, match="too deeply"):
            canonical_bytes(value)  # type: ignore[arg-type]
    while deep:
        deep = deep.pop()  # type: ignore[assignment]


def test_digest_is_sha256_of_the_canonical_bytes() -> None:
    """By `printf '{"a":1,"b":[]}' | sha256sum`."""
    assert (
        str(digest_of({"b": [], "a": 1})) == "sha256:f87e4099e9be5e75094e0a4f46d3dc18a9c37429314a5a2490fb78d31e7e170c"
    )
