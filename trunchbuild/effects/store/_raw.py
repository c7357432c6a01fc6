"""Files of a release as they lie on a disk, and the view that re-hashes every read."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.manifest import MANIFEST, MAX_LINE_BYTES, PRIVATE, Manifest, ReleaseFile
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.release import release_digest
from trunchbuild.effects.store.api import DamagedReleaseError, RawFiles, StoreError
from trunchbuild.errors import BadInputError

MAX_MANIFEST_BYTES = 64 * 1024 * 1024
"""A manifest lists at most some thousand files; more is not one of ours and is not read into memory."""
_MAX_DEPTH = 200
"""Folders inside one another; what Git and most systems can check out is far below."""
_MAX_FILES = 1_000_000


def _lines(raw: RawFiles, path: str) -> Iterator[bytes]:
    """The lines of a file, each with its LF; none may fill the memory."""
    with raw.open(path) as file:
        while line := file.readline(MAX_LINE_BYTES + 2):
            if len(line.removesuffix(b"\n")) > MAX_LINE_BYTES:
                expected = f"at most {MAX_LINE_BYTES:,} bytes"
                raise BadInputError("a line too long", place=f"{raw.place}: {path}", expected=expected, got="more")
            yield line


def open_regular(path: Path, place: str) -> IO[bytes]:
    """Open a file for reading; never follows a link at its last part, never blocks on a pipe.

    Raises:
        BadInputError: It is missing or no regular file.
        StoreError: The system refuses.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise BadInputError("no such file", place=place) from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENOTDIR):
            raise BadInputError("not a regular file", place=place, got="a link or device") from None
        raise StoreError(f"cannot read: {error.strerror}", place=place) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadInputError("not a regular file", place=place)
    return os.fdopen(descriptor, "rb")


class FolderFiles:
    """A folder that may be a release."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: list[str] | None = None
        self._odd: list[str] = []

    @property
    def place(self) -> str:
        """The folder as it was given."""
        return str(self._folder)

    def names(self) -> list[str]:
        """Every regular file, sorted by path."""
        if self._names is None:
            names: list[str] = []
            self._odd = []
            try:
                self._walk(names)
            except OSError as error:
                raise StoreError(f"cannot list: {error.strerror}", place=str(self._folder)) from error
            self._names = sorted(names)
        return self._names

    def odd(self) -> list[str]:
        """Links, sockets, pipes and the like, sorted."""
        self.names()
        return sorted(self._odd)

    def open(self, path: str) -> IO[bytes]:
        """Open one of the files; what is behind a link is not one of them."""
        if path not in self.names():
            raise BadInputError("no such file", place=f"{self.place}/{path}")
        return open_regular(self._folder / path, f"{self.place}/{path}")

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of one of the files, each with its LF."""
        return _lines(self, path)

    def _walk(self, names: list[str]) -> None:
        left = [(str(self._folder), "")]
        while left:
            folder, prefix = left.pop()
            if prefix.count("/") > _MAX_DEPTH or len(names) + len(left) > _MAX_FILES:
                raise BadInputError(
                    "this is no release folder",
                    place=self.place,
                    expected=f"at most {_MAX_FILES:,} files, no deeper than {_MAX_DEPTH} folders",
                    got=f"more, at {prefix[:80]}",
                )
            with os.scandir(folder) as entries:
                for entry in entries:
                    # A name that is no UTF-8 is shown with its bytes escaped, and can never equal a listed path.
                    name = prefix + entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
                    if entry.is_dir(follow_symlinks=False):
                        left.append((entry.path, f"{name}/"))
                    elif entry.is_file(follow_symlinks=False):
                        names.append(name)
                    else:
                        self._odd.append(name)


class MappedFiles:
    """Files that lie elsewhere, by their path in the release: a store's objects, a stage's temporary files."""

    def __init__(self, place: str, files: Mapping[str, Path]) -> None:
        self._place = place
        self._files = files

    @property
    def place(self) -> str:
        """The release's id, or what stands for it."""
        return self._place

    def names(self) -> list[str]:
        """Those that are there, sorted."""
        return sorted(path for path, file in self._files.items() if file.is_file())

    def odd(self) -> list[str]:
        """None: only mapped files exist here."""
        return []

    def open(self, path: str) -> IO[bytes]:
        """Open one of the files."""
        if path not in self._files:
            raise BadInputError("no such file", place=f"{self._place}: {path}")
        return open_regular(self._files[path], f"{self._place}: {path}")

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of one of the files, each with its LF."""
        return _lines(self, path)


class CheckedFiles:
    """One release; every read is compared with the manifest."""

    def __init__(self, raw: RawFiles, claimed: ReleaseId | None = None) -> None:
        """Read the manifest at once.

        Raises:
            BadInputError: There is no manifest, or it does not parse.
            DamagedReleaseError: Its digest is not the claimed one.
        """
        self._raw = raw
        with raw.open(MANIFEST) as file:
            data = file.read(MAX_MANIFEST_BYTES + 1)
        if len(data) > MAX_MANIFEST_BYTES:
            raise BadInputError(
                "too large for a manifest", place=raw.place, expected=f"at most {MAX_MANIFEST_BYTES} bytes", got="more"
            )
        self._digest = release_digest(data)
        if claimed is not None and self._digest != claimed:
            raise _damaged(raw, MANIFEST, claimed.hex, self._digest.hex)
        self._bytes = data
        self._manifest = read_manifest(data, f"{raw.place}: {MANIFEST}")

    @property
    def digest(self) -> ReleaseId:
        """SHA-256 of the manifest's bytes."""
        return self._digest

    @property
    def manifest(self) -> Manifest:
        """The parsed manifest."""
        return self._manifest

    @property
    def manifest_bytes(self) -> bytes:
        """`manifest.json`."""
        return self._bytes

    @property
    def raw(self) -> RawFiles:
        """The unchecked files."""
        return self._raw

    def names(self) -> list[str]:
        """Every file present."""
        return self._raw.names()

    def read(self, path: str) -> bytes:
        """The whole of a listed file, checked."""
        entry = self._manifest.file(path)
        self._require_here(entry)
        with self._raw.open(path) as file:
            data = file.read(entry.bytes + 1)
        self._compare(entry, len(data), hashlib.sha256(data).hexdigest())
        return data

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of a listed file; the digest is checked after the last one."""
        entry = self._manifest.file(path)
        digest, size = hashlib.sha256(), 0
        self._require_here(entry)
        for line in self._raw.lines(path):
            digest.update(line)
            size += len(line)
            if size > entry.bytes:
                break
            yield line.removesuffix(b"\n")
        self._compare(entry, size, digest.hexdigest())

    def has_private(self) -> bool:
        """Whether the private part is here."""
        return PRIVATE in self._raw.names()

    def _require_here(self, entry: ReleaseFile) -> None:
        if entry.path == PRIVATE and not self.has_private():
            raise BadInputError(
                "the private part of this release is withheld",
                place=f"{self._raw.place}: {PRIVATE}",
                hint="ask its publisher for private.jsonl, or rebuild the release from its repository",
            )

    def _compare(self, entry: ReleaseFile, size: int, sha256: str) -> None:
        if size != entry.bytes:
            raise _damaged(self._raw, entry.path, f"{entry.bytes} bytes", f"{size} or more")
        if sha256 != entry.sha256:
            raise _damaged(self._raw, entry.path, entry.sha256, sha256)


def _damaged(raw: RawFiles, path: str, expected: str, got: str) -> DamagedReleaseError:
    return DamagedReleaseError(
        "the bytes are not those of this release",
        place=f"{raw.place}: {path}",
        expected=expected,
        got=got,
        hint="`trunchbuild verify` lists all that differs; compile or import the release again to repair a store",
    )
