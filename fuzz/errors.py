"""What a reader may do with an input: accept it, or refuse it with an error that a user can be shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trunchbuild.cli.failures import document, lines
from trunchbuild.cli.render import plain, printable
from trunchbuild.errors import TrunchbuildError

Run = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader of text from outside.

    `run` reads, and where the reader accepts, asserts what must hold of the result. Everything else that it raises but
    a `TrunchbuildError` is a finding.
    """

    name: str
    run: Run
    json: bool = False
    """Whether inputs are JSON, which a mutator can change without breaking it."""
    max_bytes: int = 4096


def attempt(reader: Reader, data: bytes) -> bool:
    """Run one input; whether it was accepted.

    Raises:
        AssertionError: What the reader gave, or its error's text, is not as it should be.
        Exception: The reader failed in a way that nobody foresaw.
    """
    try:
        reader.run(data)
    except TrunchbuildError as error:
        check_text(error)
        return False
    return True


def check_text(error: TrunchbuildError) -> None:
    """An error says something, and nothing in it steers a terminal (C0, DEL, C1, bidirectional overrides and isolates).

    Both as people see it and as `--json` gives it.
    """
    assert error.faults
    assert all(fault.message for fault in error.faults)
    for text in (*map(printable, lines(error)), plain(document(error))):
        steering = [character for character in text if _steers(character)]
        assert not steering, f"{steering!r} in {text!r}"
        text.encode()


def _steers(character: str) -> bool:
    number = ord(character)
    controls = (number < 0x20 and character not in "\n\t") or 0x7F <= number < 0xA0
    return controls or 0x202A <= number <= 0x202E or 0x2066 <= number <= 0x2069
