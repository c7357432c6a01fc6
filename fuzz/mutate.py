"""Changes to JSON text that leave it JSON: most random bytes would never get past the parser."""

from __future__ import annotations

import json
import random
from typing import Any

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e308, 2**53, 2**64, "", "a", "../x", "\u2028", "\u202e", "\ud800", "\x00"),
    *([], {}, [[]], {"": {}}, "x" * 300, "__proto__", "sha256:" + "0" * 64, ["a", "a"], "é", "e\u0301"),
)


def mutate_json(data: bytes, max_size: int, seed: int) -> bytes | None:
    """One change of the value somewhere; of one line, where there are several. None where the text is no JSON."""
    chance = random.Random(seed)
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return None
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        value = _change(value, chance)
    compact = chance.random() < 0.8
    text = json.dumps(value, ensure_ascii=chance.random() < 0.2, separators=(",", ":") if compact else None)
    lines[at] = text.encode("utf-8", "surrogatepass")
    if chance.random() < 0.1:
        lines.insert(at, lines[at])
    return b"\n".join(lines)[:max_size]


def _change(value: Any, chance: random.Random) -> Any:
    """Walk down some way and change what is there."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(list(value))
        roll = chance.random()
        if roll < 0.1:
            return {other: inner for other, inner in value.items() if other != key}
        if roll < 0.2:
            return {**value, chance.choice(("", "x", "__proto__", key + "s", key.upper())): value[key]}
        if roll < 0.25:
            return dict(reversed(value.items()))
        return {**value, key: _change(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        roll = chance.random()
        if roll < 0.1:
            return value[:at] + value[at + 1 :]
        if roll < 0.2:
            return [*value, value[at]]
        return [*value[:at], _change(value[at], chance), *value[at + 1 :]]
    if isinstance(value, str) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        other = chance.choice("a0/.\\\"'\x00\x1b\u2028é #?%:@-_A9\ud83d")
        return value[:at] + other + value[at + chance.randrange(2) :]
    if isinstance(value, int | float) and not isinstance(value, bool) and chance.random() < 0.6:
        return chance.choice((value + 1, -value, value * 10, value / 3, 0))
    return chance.choice(_VALUES)
