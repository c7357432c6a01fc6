"""Strict reading: what is accepted equals the standard library's reading, what is refused is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.json_faults import first_fault
from trunchbuild.core.json_types import Json
from trunchbuild.core.strict_json import MAX_DEPTH, JsonError, read_json, read_json_lines, read_jsonl


def fault_of(read: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(JsonError) as caught:
        read()
    fault = caught.value.faults[0]
    return fault.place, str(fault)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("123456789012345680000", 123456789012345680000.0),
        ("9007199254740992", 9007199254740992.0),
        ("-9007199254740991", -9007199254740991),
        ("1.0", 1),
        ("-0", 0),
        ("-0.0", 0),
        ("1e3", 1000),
        ("0.1", 0.1),
        ("1e-400", 0),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\\ud800"', r"\ud800"),
        ('"\u2028\u0085"', "\u2028\u0085"),
        (' \t\r\n{"a": [1, {"b": null}]} ', {"a": [1, {"b": None}]}),
        ("\ufeff[]", []),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
        ('["' + "[" * 1000 + '"]', ["[" * 1000]),
    ],
)
def test_accepted(text: str, value: Json) -> None:
    read = read_json(text.encode(), "x.json")
    if value is not None:
        assert read == value
        assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{"a": 1,\n "a": 2}', "2:2", "duplicate key 'a'"),
        (r'{"a":1,"\u0061":2}', "1:8", "duplicate key 'a'"),
        ('{"x": {"a~/b": [0, NaN]}}', "1:20", "at /x/a~0~1b/1"),
        ("[Infinity]", "1:2", "finite"),
        ("[-Infinity]", "1:2", "finite"),
        ("[-0, NaN]", "1:6", "finite"),
        ("[1e400]", "1:2", "beyond the range"),
        ("[" + "9" * 400 + ".5]", "1:2", "beyond the range"),
        ('{"id": 9007199254740993}', "1:8", "becomes 9007199254740992"),
        ("123456789012345680001", "1:1", "becomes 123456789012345680000"),
        ("1" + "0" * 21, "1:1", "becomes 1e+21"),
        ("9" * 5000, "1:1", "5000 characters"),
        ('"' + r"\ud800" + '"', "1:1", "lone surrogate"),
        (r'{"a": "\udc00\ud800"}', "1:7", "lone surrogate"),
        (r'{"\udfff": 1}', "1:2", "lone surrogate"),
        ('["a\nb"]', "1:4", "control character"),
        (r'"\x41"', "1:2", "valid escape"),
        (r'"\u12"', "1:2", "valid escape"),
        ('["abc', "1:2", "closing quote"),
        ("", "1:1", "the end of the text"),
        ("  ", "1:3", "the end of the text"),
        ("[1,]", "1:4", "a value"),
        ("[1 2]", "1:4", "',' or ']'"),
        ('{"a":1,}', "1:8", "double quotes"),
        ('{"a" 1}', "1:6", "':'"),
        ("{'a': 1}", "1:2", "double quotes"),
        ("['a']", "1:2", "a value"),
        ("01", "1:2", "data after"),
        ("1.", "1:2", "data after"),
        ("+1", "1:1", "a value"),
        (".5", "1:1", "a value"),
        ("nul", "1:1", "a value"),
        ("undefined", "1:1", "'undefined'"),
        ('{"a":1} {"b":2}', "1:9", "data after"),
        ("[] x", "1:4", "data after"),
        ("[]\x0b", "1:3", "data after"),
        ("\ufeff\ufeff[]", "1:1", "a value"),
        ("[" * 129 + "]" * 129, "1:129", "too deeply"),
        ("[" * 100_000 + "]" * 100_000, "1:129", "too deeply"),
        ('{"a":' * 100_000, "1:641", "too deeply"),
        ("[" * 100_000, "1:129", "too deeply"),
    ],
)
def test_refused_with_line_and_column(text: str, place: str, words: str) -> None:
    """R18 among them: an integer that would be rounded is refused by name."""
    where, line = fault_of(lambda: read_json(text.encode(), "x.json"))
    assert where == f"x.json:{place}"
    assert words in line


def test_invalid_utf8_names_the_byte() -> None:
    assert "byte offset 5" in fault_of(lambda: read_json(b'["a\xc3\xa9\xff"]', "x.json"))[1]
    assert "byte offset 8" in fault_of(lambda: read_json(b'\xef\xbb\xbf["a\xc3\xa9\xff"]', "x.json"))[1]
    # UTF-16 surrogates encoded as UTF-8 (CESU-8) are not UTF-8.
    assert "byte offset 1" in fault_of(lambda: read_json(b'"\xed\xa0\x80"', "x.json"))[1]
    place, words = fault_of(lambda: list(read_jsonl(b'\xef\xbb\xbf[]\r\n\n["\xff"]\n', "x.jsonl")))
    assert place == "x.jsonl:3"
    assert "byte offset 10" in words


def test_records_end_at_lf_only() -> None:
    """R11: U+2028, U+2029, U+0085, VT and FF never cut a record."""
    record = '{"id":"a","text":"x\u2028y\u2029z\u0085"}'
    assert list(read_jsonl(record.encode(), "x")) == [(1, {"id": "a", "text": "x\u2028y\u2029z\u0085"})]
    # The twin: VT and FF are no white space of JSON either.
    for char in "\x0b\x0c":
        assert "data after" in fault_of(lambda char=char: list(read_jsonl(f"1{char}2".encode(), "x")))[1]
    # A lone CR is white space inside a record, never its end.
    assert "data after" in fault_of(lambda: list(read_jsonl(b"1\r2\n", "x")))[1]


def test_bom_crlf_and_blank_lines() -> None:
    """R13 and R15: one mark goes, CR before LF goes, blank lines are skipped but counted."""
    data = b'\xef\xbb\xbf{"id":"a","m":{"k":1}}\r\n\r\n \t\n{"id":"b","m":{"j":2}}'
    expected = [(1, {"id": "a", "m": {"k": 1}}), (4, {"id": "b", "m": {"j": 2}})]
    assert list(read_jsonl(data, "x")) == expected
    assert list(read_json_lines(data.splitlines(keepends=True), "x")) == expected
    assert fault_of(lambda: list(read_jsonl(b'1\n\xef\xbb\xbf{"id":1}\n', "x")))[0] == "x:2:1"


def test_stops_at_the_first_broken_line() -> None:
    """R27: no other reading is tried; the lines before it have been given."""
    reader = read_jsonl(b'{"id":"a"}\n{\'id\':\'b\'}\n{"id":"c"}\n', "data.jsonl")
    assert next(reader) == (1, {"id": "a"})
    place, words = fault_of(lambda: next(reader))
    assert place == "data.jsonl:2:2"
    assert "double quotes" in words


def test_a_long_line() -> None:
    """R26: one record of 30 MB."""
    record = b'{"id":"a","prompt":"' + b"x" * 30_000_000 + b'"}\n'
    [(number, value)] = read_jsonl(record, "x")
    assert number == 1
    assert isinstance(value, dict)
    assert len(value["prompt"]) == 30_000_000  # type: ignore[arg-type]


_ESCAPES = ["é", r"\u0061", r"\ud800", r"\ud83d\ude00", "9007199254740993", "1e999"]
PIECES = st.sampled_from(
    [*"{}[]:,1-0", '"a"', '"b"', '"', "\\", ".5", "e3", "true", "null", "NaN", " ", "\n", *_ESCAPES]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=8))
def test_both_readers_agree(text: str) -> None:
    """The fast reader refuses exactly where the slow one finds a fault, and reads what the standard library reads."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        return
    explained = first_fault(text, MAX_DEPTH).message != "not strict JSON"
    try:
        value = read_json(text.encode(), "x")
    except JsonError:
        assert explained or text.startswith("\ufeff")
    else:
        assert not explained or text.startswith("\ufeff")
        assert value == json.loads(text.removeprefix("\ufeff"), parse_int=float)


SCALARS = (
    st.none()
    | st.booleans()
    | st.text()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_reads_back_what_json_writes(value: Json) -> None:
    assert read_json(json.dumps(value).encode(), "x") == value
