"""The kernel's table of locks, as proc(5) shows it."""

from __future__ import annotations

from trunchbuild.core.file_locks import held_by, holders

TABLE = """1: POSIX  ADVISORY  READ  5433 08:01:7864448 128 128
2: FLOCK  ADVISORY  WRITE 2001 08:01:7864554 0 EOF
3: FLOCK  ADVISORY  READ  1568 00:2f:32388 0 EOF
3: -> FLOCK  ADVISORY  WRITE 99 00:2f:32388 0 EOF
4: FLOCK  ADVISORY  READ  699 00:2f:32388 0 EOF
5: FLOCK  ADVISORY  READ  0 00:2f:32388 0 EOF
6: POSIX  ADVISORY  WRITE 764 08:01:7864554 0 EOF
odd
"""


def test_who_holds_a_file() -> None:
    assert holders(TABLE, (8, 1), 7864554) == [2001]
    assert holders(TABLE, (0, 0x2F), 32388) == [1568, 699]


def test_who_waits_or_holds_something_else_does_not() -> None:
    assert holders(TABLE, (8, 1), 7864448) == []
    assert holders(TABLE, (8, 2), 7864554) == []
    assert holders("", (8, 1), 1) == []


def test_in_words() -> None:
    assert held_by([]) is None
    assert held_by([12]) == "process 12"
    assert held_by([12, 15]) == "processes 12, 15"
