"""The libraries that the sandbox shows, compared with what the loader itself says (`ldd`)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from trunchbuild.effects.runtime._libraries import MissingLibraryError, libraries_of, read_elf


def loader_says(program: Path) -> set[str]:
    """Real paths of the libraries that `ldd` lists."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return {os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", said)}


def programs() -> list[Path]:
    interpreter = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    found = [
        interpreter,
        *(Path(os.path.realpath(tool)) for name in ("git", "sh", "ls") if (tool := shutil.which(name))),
    ]
    return sorted(set(found))


@pytest.mark.skipif(shutil.which("ldd") is None, reason="no ldd here")
@pytest.mark.parametrize("program", programs(), ids=lambda path: path.name)
def test_same_libraries_as_the_loader(program: Path) -> None:
    ours = {os.path.realpath(path) for path in libraries_of([program])}
    assert ours == loader_says(program)


def test_loader_stands_where_the_program_looks_for_it() -> None:
    """PT_INTERP is an absolute path: inside it must be the same."""
    program = programs()[0]
    interpreter = read_elf(program).interpreter
    assert interpreter is not None
    assert libraries_of([program])[Path(interpreter)] == interpreter


def test_a_file_that_is_no_program_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("#!/bin/sh\n" * 10, encoding="utf-8")
    with pytest.raises(MissingLibraryError, match="no 64-bit"):
        libraries_of([tmp_path / "text"])


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    """A copy of a program whose needed C library has another name."""
    data = Path(os.path.realpath(shutil.which("ls") or "/bin/ls")).read_bytes()
    assert b"libc.so.6\0" in data
    (tmp_path / "ls").write_bytes(data.replace(b"libc.so.6\0", b"libc.so.0\0"))
    with pytest.raises(MissingLibraryError, match=re.escape("libc.so.0")):
        libraries_of([tmp_path / "ls"])
