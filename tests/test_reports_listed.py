"""Every report that a test names stands in `REPORTS.md`, and no report stands there untested."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent


def test_the_list_and_the_tests_name_the_same_reports() -> None:
    """An id that nobody can look up says nothing."""
    named = {
        report
        for path in TESTS.rglob("*.py")
        if TESTS / "data" not in path.parents
        for report in re.findall(r"\bR\d{2,3}\b", path.read_text(encoding="utf-8"))
    }
    listed = re.findall(r"^\| (R\d{2,3}) \|", (TESTS / "REPORTS.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(named)
