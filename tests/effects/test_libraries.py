"""The libraries that the sandbox shows, compared with what the loader itself says (`ldd`)."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from trunchbuild.effects.runtime._libraries import MissingLibraryError, libraries_of, library_cache, read_elf


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


def test_damaged_programs_are_errors(tmp_path: Path) -> None:
    """A real library with each of the first bytes changed, and cut at many lengths: read, or refused."""
    data = Path(os.path.realpath(shutil.which("ls") or "/bin/ls")).read_bytes()
    file = tmp_path / "ls"
    read = 0
    changed = [data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :] for at in range(16, 64 + 56 * 12)]
    for content in [*changed, *(data[:length] for length in range(0, 2000, 50))]:
        file.write_bytes(content)
        with suppress(MissingLibraryError):
            read_elf(file)
            read += 1
    assert 0 < read < len(changed)


CACHE = Path("/etc/ld.so.cache")
LDCONFIG = shutil.which("ldconfig", path="/sbin:/usr/sbin:/bin:/usr/bin")


@pytest.mark.skipif(not CACHE.exists() or LDCONFIG is None, reason="no cache of glibc's here")
def test_the_loaders_cache_as_ldconfig_prints_it() -> None:
    said = subprocess.run([LDCONFIG or "", "-p"], capture_output=True, text=True, check=True).stdout
    printed = re.findall(r"^\t(\S+) \(libc6,(?:x86-64|AArch64)[^)]*\) => (\S+)$", said, re.MULTILINE)
    ours = library_cache(CACHE.read_bytes())
    assert set(ours) == {name for name, _ in printed}
    assert set(ours.items()) <= set(printed)


def test_a_damaged_cache_is_none() -> None:
    """One entry, written from struct cache_file_new; cut anywhere it is worth nothing."""
    texts = b"libz.so.1\0/lib/libz.so.1\0"
    head = b"glibc-ld.so.cache1.1" + struct.pack("<II", 1, len(texts)) + bytes(20)
    whole = head + struct.pack("<iIIIQ", 0x0303, 72, 82, 0, 0) + texts
    assert library_cache(whole) == {"libz.so.1": "/lib/libz.so.1"}
    assert library_cache(b"an older cache in front of it" + whole) == {"libz.so.1": "/lib/libz.so.1"}
    assert all(library_cache(whole[:length]) == {} for length in range(len(whole)))
    assert library_cache(whole.replace(struct.pack("<I", 72), struct.pack("<I", 2**31))) == {}
