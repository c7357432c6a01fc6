"""The first seeds: one good input of each format, from files that the project publishes."""

from __future__ import annotations

from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"


def seeds(name: str) -> list[Path]:
    """All inputs kept for a reader, sorted."""
    return sorted((CORPUS / name).iterdir())


def sample(name: str) -> bytes:
    """The input that every reader's corpus begins with: one that is accepted."""
    return (CORPUS / name / "good").read_bytes()
