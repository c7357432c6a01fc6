"""A run's figures for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from trunchbuild.cli.render import cut, on_one_line, say, show_fields, show_table
from trunchbuild.core.figures import Figure, Figures
from trunchbuild.core.results import Row
from trunchbuild.core.summary import Summary

MOST_REASONS = 3
"""Reasons that a screen shows."""
UNEXPECTED = ("failed", "empty", "grader_error", "unsupported")
"""Statuses whose message says what to mend."""


def show_summary(summary: Summary, folder: Path) -> None:
    """Print figures, digest and folder; below the declared coverage the scores stay out."""
    spec = summary.spec
    marks = [
        mark
        for mark, holds in (("imported replies", spec.imported), ("partial: not all cases", summary.partial))
        if holds
    ]
    show_fields(
        [
            ("model", f"{spec.model} ({spec.label})" + (f"  [{', '.join(marks)}]" if marks else "")),
            *_rows(summary, summary.total),
            *_reasons(summary.rows),
            ("results", str(summary.digest)),
            ("run", str(folder)),
        ]
    )
    if len(summary.evals) > 1 and summary.withheld is None:
        say("")
        show_table(
            ("eval", "passed", "scored", "all", "accuracy", "accuracy_all", "coverage", "mean score"),
            [(name, *_cells(figures)) for name, figures in summary.evals.items()],
        )
    left_out = [row for row in summary.rows if row.status in ("unsupported", "needs_environment")]
    for row in left_out[:20]:
        say(f"left out: {row.trial}: {row.status}")
    if len(left_out) > 20:
        say(f"left out: {len(left_out) - 20} more; summary.json lists all")


def _rows(summary: Summary, figures: Figures) -> list[tuple[str, str]]:
    counts = ", ".join(f"{number} {status}" for status, number in figures.statuses.items() if number)
    coverage = f"{_text(figures.coverage)} = {figures.scored} of {figures.all}"
    if summary.withheld is not None:
        return [("trials", counts), ("coverage", coverage), ("no score", summary.withheld)]
    return [
        ("trials", counts),
        ("accuracy", f"{_text(figures.accuracy)} = {figures.passed} of {figures.scored} scored"),
        ("accuracy_all", f"{_text(figures.accuracy_all)} = {figures.passed} of {figures.all}"),
        ("coverage", coverage),
        ("mean score", _text(figures.mean_score)),
    ]


def _reasons(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """What stood in the way of trials that have no score, the most frequent first."""
    found = Counter((row.status, row.message) for row in rows if row.status in UNEXPECTED and row.message)
    lines = [f"{count} {status}: {on_one_line(cut(message or ''))}" for (status, message), count in found.most_common()]
    if len(lines) > MOST_REASONS:
        lines[MOST_REASONS:] = [f"{len(lines) - MOST_REASONS} more reasons; results.jsonl has them all"]
    return [("because", "\n".join(lines))] if lines else []


def _cells(figures: Figures) -> tuple[str, ...]:
    return (
        str(figures.passed),
        str(figures.scored),
        str(figures.all),
        _text(figures.accuracy),
        _text(figures.accuracy_all),
        _text(figures.coverage),
        _text(figures.mean_score),
    )


def _text(figure: Figure) -> str:
    if figure.value is None:
        return "none"
    text = f"{figure.value:.4f}"
    return text if figure.interval is None else f"{text} [{figure.interval.low:.4f}, {figure.interval.high:.4f}]"
