"""Mutation without counters: several times as many inputs in the same time, from a corpus that a guided run made."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fuzz.errors import Reader, attempt
from fuzz.mutate import mutate_json

_TOKENS = (
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\r\n", b'"', b"\\u", b"{", b"[", b"]"),
    *(b"..", b"/", b"=", b"1e999", b"-", b"9" * 20, b"\x1b[2J", "\u202e".encode(), "ſ".encode(), b"%00", b"<<<<<<<"),
)


class FindingError(Exception):
    """A reader failed; `data` is the input."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        super().__init__(f"{data!r}")


def run_blind(reader: Reader, corpus: Sequence[bytes], runs: int, seed: int) -> int:
    """Run that many inputs; how many were accepted.

    Raises:
        FindingError: The reader failed; its cause is the failure.
    """
    chance = random.Random(seed)
    accepted = 0
    for number in range(runs):
        data = chance.choice(corpus)
        changed = mutate_json(data, reader.max_bytes, number ^ seed) if reader.json and number % 4 else None
        if changed is None:
            changed = data
            for _ in range(chance.choice((1, 1, 2, 4))):
                changed = _mutate(changed, corpus, chance)
            changed = changed[: reader.max_bytes]
        try:
            accepted += attempt(reader, changed)
        except BaseException as error:
            raise FindingError(changed) from error
    return accepted


def _mutate(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    """One change of bytes: another byte, one fewer, a token more, a part twice, the end of another input."""
    at = chance.randrange(len(data) + 1)
    roll = chance.randrange(6)
    if roll == 0:
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
    if roll == 1:
        return data[:at] + data[at + chance.choice((1, 1, 2, 8, 64)) :]
    if roll == 2:
        return data[:at] + chance.choice(_TOKENS) + data[at:]
    if roll == 3:
        end = min(len(data), at + chance.choice((1, 4, 16, 64)))
        return data[:end] + data[at:end] * chance.choice((1, 1, 2, 20)) + data[end:]
    if roll == 4 and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    other = chance.choice(corpus)
    return data[:at] + other[chance.randrange(len(other) + 1) :]
