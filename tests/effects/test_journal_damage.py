"""Damage that SQLite's quick check leaves open, and errors of SQLite's that are not its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.effects.test_journal import JOURNALS, RUN, step, write
from trunchbuild.effects.journal.api import JOURNAL, JournalError

NAMES = [f"q{number}" for number in range(9)]


def made(folder: Path) -> bytes:
    write(folder, *(step(name) for name in NAMES))
    return (folder / JOURNAL).read_bytes()


def places_of(text: bytes, data: bytes) -> list[int]:
    found, at = [], data.find(text)
    while at >= 0:
        found.append(at)
        at = data.find(text, at + 1)
    return found


def test_an_index_that_leads_elsewhere_is_damage(tmp_path: Path) -> None:
    """A record's eval and case id stand side by side in the table and in its index: changing either is found."""
    data = made(tmp_path)
    places = places_of(b"sumsq3", data)
    assert len(places) == 2
    for at in places:
        (tmp_path / JOURNAL).write_bytes(data[: at + 5] + b"9" + data[at + 6 :])
        with pytest.raises(JournalError, match="damaged"), JOURNALS.open(tmp_path, RUN):
            pass
    (tmp_path / JOURNAL).write_bytes(data)
    with JOURNALS.open(tmp_path, RUN) as journal:
        assert sorted(trial.id for trial in journal.recorded()) == NAMES


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    """SQLite repeats it in its message, of which Python can make no string."""
    data = made(tmp_path)
    at = data.index(b"CREATE TABLE step")
    for changed in (b"CREATE TABL\xfa", b"CREATE TABLE \xff"):
        (tmp_path / JOURNAL).write_bytes(data[:at] + changed + data[at + len(changed) :])
        with pytest.raises(JournalError), JOURNALS.open(tmp_path, RUN):
            pass
