"""Finds the shared libraries that a program needs, so that the sandbox shows these files and no others.

Reads ELF as the dynamic loader does (System V gABI, chapter 5; ld.so(8)) instead of running `ldd`: no process is
started, and a machine without it works. Only 64-bit little-endian files are read, which is every machine that the
sandbox has a filter for.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from trunchbuild.errors import MachineError

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 0, 1, 5, 10, 15, 29

_SEGMENT_BYTES = 56
_MOST_BYTES = 64 << 20
"""Of one section; those of real libraries are a hundredth of it."""
_DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
_CACHE = Path("/etc/ld.so.cache")
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"


class MissingLibraryError(MachineError):
    """A program of the runtime cannot run on this machine."""

    slug = "missing-library"


@dataclass(frozen=True, slots=True)
class Elf:
    """What the loader reads of one file."""

    interpreter: str | None
    needed: tuple[str, ...]
    search: tuple[str, ...]
    """RPATH or RUNPATH, `$ORIGIN` replaced."""


def libraries_of(programs: Iterable[Path]) -> dict[Path, str]:
    """Every shared library the programs need, and the loader: host file -> path inside.

    All libraries are placed in the folder that holds the C library: the loader looks there without being told, so the
    guest's environment needs no LD_LIBRARY_PATH.

    Raises:
        MissingLibraryError: A library is not on this machine.
    """
    found: dict[str, Path] = {}
    interpreter: str | None = None
    waiting: list[tuple[Path, tuple[str, ...]]] = [(path, ()) for path in programs]
    seen: set[Path] = set()
    while waiting:
        path, inherited = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        elf = read_elf(path)
        interpreter = interpreter or elf.interpreter
        search = (*elf.search, *inherited)
        for name in elf.needed:
            if name not in found:
                found[name] = _locate(name, search, path)
            waiting.append((found[name], search))
    home = _home_of(found)
    inside = {path: f"{home}/{name}" for name, path in found.items() if name != Path(interpreter or "").name}
    if interpreter is not None:
        inside[Path(interpreter)] = interpreter
    return inside


def _home_of(found: Mapping[str, Path]) -> str:
    for name, path in found.items():
        if name.startswith(("libc.so", "libc.musl")):
            return str(path.parent)
    return "/lib"


def _locate(name: str, search: tuple[str, ...], wanted_by: Path) -> Path:
    candidates = [Path(folder) / name for folder in search]
    cached = _loader_cache().get(name)
    if cached is not None:
        candidates.append(Path(cached))
    candidates += [Path(folder) / name for folder in _DEFAULT_FOLDERS]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise MissingLibraryError(
        f"{wanted_by} needs the shared library {name}, which is not on this machine",
        hint="install the system package that holds it",
    )


def read_elf(path: Path) -> Elf:
    """Read the dynamic section of one file; a static program needs nothing.

    Raises:
        MissingLibraryError: It is no such file, or a damaged one.
    """
    try:
        return _read_elf(path)
    except (struct.error, ValueError, OverflowError) as error:
        raise MissingLibraryError(f"{path} is a damaged ELF file ({error})") from None


def _read_elf(path: Path) -> Elf:
    with path.open("rb") as file:
        header = file.read(64)
        if header[:6] != b"\x7fELF\x02\x01":
            raise MissingLibraryError(f"{path} is no 64-bit little-endian ELF file")
        start, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
        table = _read(file, start, size * count)
        if size < _SEGMENT_BYTES:
            raise ValueError(f"segments of {size} bytes")
        segments = [_Segment(*struct.unpack_from("<IIQQQQQQ", table, at)) for at in range(0, size * count, size)]
        interpreter = None
        dynamic = b""
        for segment in segments:
            if segment.kind == _PT_INTERP:
                interpreter = os.fsdecode(_read(file, segment.offset, segment.size).rstrip(b"\0"))
            elif segment.kind == _PT_DYNAMIC:
                dynamic = _read(file, segment.offset, segment.size)
        needed, search = _dynamic(file, dynamic, segments)
    origin = str(Path(os.path.realpath(path)).parent)
    folders = tuple(
        folder.replace("$ORIGIN", origin).replace("${ORIGIN}", origin)
        for entry in search
        for folder in entry.split(":")
    )
    return Elf(interpreter, tuple(needed), folders)


@dataclass(frozen=True, slots=True)
class _Segment:
    """Elf64_Phdr."""

    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    size: int
    memory: int
    align: int


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    if size > _MOST_BYTES or offset > os.fstat(file.fileno()).st_size:
        raise ValueError(f"a part of {size:,} bytes at {offset:,}")
    file.seek(offset)
    return file.read(size)


def _dynamic(file: BinaryIO, dynamic: bytes, segments: list[_Segment]) -> tuple[list[str], list[str]]:
    needed: list[int] = []
    search: list[int] = []
    strings_at, strings_size = 0, 0
    for tag, value in struct.iter_unpack("<qQ", dynamic):
        if tag == _DT_NULL:
            break
        if tag == _DT_NEEDED:
            needed.append(value)
        elif tag in (_DT_RPATH, _DT_RUNPATH):
            search.append(value)
        elif tag == _DT_STRTAB:
            strings_at = value
        elif tag == _DT_STRSZ:
            strings_size = value
    if not needed and not search:
        return [], []
    offsets = [
        segment.offset + strings_at - segment.address
        for segment in segments
        if segment.kind == _PT_LOAD and segment.address <= strings_at < segment.address + segment.size
    ]
    if not offsets:
        raise ValueError("its strings are in no segment")
    offset = offsets[0]
    strings = _read(file, offset, strings_size)
    return [_text(strings, at) for at in needed], [_text(strings, at) for at in search]


def _text(strings: bytes, at: int) -> str:
    """A name or a path, as `Path` and `str` hold it whatever its bytes are."""
    if not 0 <= at < len(strings):
        raise ValueError("a text beyond the end")
    return os.fsdecode(strings[at : strings.index(b"\0", at)])


@cache
def _loader_cache() -> Mapping[str, str]:
    """Library name -> path; empty where this machine has no cache."""
    try:
        return library_cache(_CACHE.read_bytes())
    except OSError:
        return {}


def library_cache(data: bytes) -> dict[str, str]:
    """Library name -> path in glibc's cache (struct cache_file_new in elf/cache.h); a damaged one is worth nothing."""
    start = data.find(_CACHE_MAGIC)
    if start < 0:
        return {}
    data = data[start:]
    entries: dict[str, str] = {}
    try:
        (count,) = struct.unpack_from("<I", data, 20)
        for index in range(count):
            flags, key, value = struct.unpack_from("<iII", data, 48 + 24 * index)
            # 0x0303 is x86-64 ELF, 0x0a03 AArch64 (FLAG_*_LIB* in sysdeps/generic/ldconfig.h): not the 32-bit ones.
            if flags & 0xFFFF in (0x0303, 0x0A03):
                entries.setdefault(_text(data, key), _text(data, value))
    except (struct.error, ValueError):
        return {}
    return entries
