"""One folder per bad input, run as a whole command: the exit code, the words, and nothing written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trunchbuild.cli.main import invoke

CONFIG = "export default { protocolVersion: 1, title: 'T', version: '1', license: 'CC0-1.0', evals: ['evals/a.mjs'] }\n"
EVAL = "export default { id: 'a', title: 'A', cases: [{ id: 'x', prompt: 'p' }], evaluate: { kind: 'non_empty' } }\n"
ROWS = '{"id":"a","q":"1+1"}\n{"id":"b","q":"2+2"}\n'


@dataclass(frozen=True)
class Bad:
    """What is wrong, how it is run, and what the user must be told."""

    name: str
    arguments: Sequence[str]
    code: int
    says: Sequence[str]
    """Texts that standard error must hold: places, what was expected and got, hints."""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic link -> target."""
    folders: Sequence[str] = ()


def run_bad(bad: Bad, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the folder, run the command in it, and hold the outcome against what must be."""
    for path, content in bad.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    for path in bad.folders:
        (folder / path).mkdir(parents=True)
    for path, target in bad.links.items():
        (folder / path).symlink_to(target)
    before = snapshot(folder)
    monkeypatch.chdir(folder)
    code = invoke(list(bad.arguments))
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err + shown.out
    assert "internal error" not in shown.err
    assert shown.out == ""
    missing = [text for text in bad.says if text not in shown.err]
    assert (code, missing) == (bad.code, []), shown.err
    assert snapshot(folder) == before


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, every other thing with None."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
    }
