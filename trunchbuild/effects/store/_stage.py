"""A release while it is written."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.manifest import MANIFEST, PROVENANCE
from trunchbuild.core.provenance import read_provenance
from trunchbuild.effects.store._files import Files
from trunchbuild.effects.store._raw import CheckedFiles, MappedFiles, open_regular
from trunchbuild.effects.store.api import ByteSink, StoreError
from trunchbuild.errors import BadInputError

MAX_RECORD_BYTES = 64 << 20

_HINTS = {
    errno.ENOSPC: "free some space; what was written so far is removed, nothing half-written counts",
    errno.EDQUOT: "free some space; what was written so far is removed, nothing half-written counts",
    errno.EROFS: "set TRUNCHBUILD_HOME to a folder that can be written",
    errno.EACCES: "set TRUNCHBUILD_HOME to a folder that can be written",
    errno.EPERM: "set TRUNCHBUILD_HOME to a folder that can be written",
    errno.ENOTDIR: "set TRUNCHBUILD_HOME to a folder",
    errno.EEXIST: "a file stands where a folder should: set TRUNCHBUILD_HOME to a folder",
    errno.EXDEV: "a folder of the store is on another file system: the store must lie on one",
    errno.EISDIR: "a folder stands where a file should: remove it",
}


@contextmanager
def store_errors(root: Path) -> Iterator[None]:
    """Turn the system's refusals into a StoreError with what to do."""
    try:
        yield
    except OSError as error:
        hint = _HINTS.get(error.errno or 0)
        reason = error.strerror or str(error) or type(error).__name__
        place = error.filename2 or error.filename or root
        raise StoreError(f"the store cannot be written: {reason}", place=str(place), hint=hint) from error


class DiskStage:
    """Temporary files in one folder; `root` is the store that may keep them."""

    def __init__(self, folder: Path, files: Files, root: Path | None) -> None:
        self._folder = folder
        self._files = files
        self._root = root
        self._paths: dict[str, Path] = {}
        self._sha256: dict[str, str] = {}

    @contextmanager
    def create(self, path: str) -> Iterator[ByteSink]:
        """Write one file; it is hashed while it is written, and on the disk at the end if it may be kept."""
        assert path not in self._paths, path
        place = self._folder / str(len(self._paths))
        where = self._root or self._folder
        with store_errors(where):
            file = self._files.create(place)
        self._paths[path] = place
        sink = _Sink(self._files, file, where)
        try:
            yield sink
            with store_errors(where):
                file.flush()
                if self._root is not None:
                    self._files.seal(file)
        finally:
            with store_errors(where):
                file.close()
        self._sha256[path] = sink.sha256

    def files(self) -> CheckedFiles:
        """The release so far."""
        return CheckedFiles(self.raw())

    def raw(self) -> MappedFiles:
        """The same, unchecked."""
        return MappedFiles("the release being built", self._paths)

    def keep(self) -> ReleaseId:
        """Give every file its final name: objects first, the release's entry last."""
        if self._root is None:
            raise AssertionError("a stage that was not opened to be kept")
        release = ReleaseId(self._sha256[MANIFEST])
        entry = self._root / "releases" / release.hex
        with store_errors(self._root):
            for path, sha256 in self._sha256.items():
                if path != PROVENANCE:
                    self._place(self._paths[path], self._root / "objects" / sha256[:2] / sha256[2:], sha256)
            self._files.make_folder(entry.parent)
            if _is_record(entry, release, PROVENANCE in self._paths):
                return release
            if PROVENANCE not in self._paths:
                with self._files.create(self._folder / "entry") as file:
                    self._files.seal(file)
            self._files.rename(self._paths.get(PROVENANCE, self._folder / "entry"), entry)
        return release

    def _place(self, source: Path, target: Path, sha256: str) -> None:
        """Move a sealed file to its final name; one that is there and whole stays, a damaged one is replaced."""
        if _sha256_of(target) == sha256:
            return
        self._files.make_folder(target.parent)
        self._files.rename(source, target)


class _Sink:
    """Counts in a digest what it passes on."""

    def __init__(self, files: Files, file: IO[bytes], where: Path) -> None:
        self._files = files
        self._file = file
        self._where = where
        self._digest = hashlib.sha256()

    def write(self, data: bytes, /) -> int:
        """Write all of `data`."""
        with store_errors(self._where):
            self._files.write(self._file, data)
        self._digest.update(data)
        return len(data)

    @property
    def sha256(self) -> str:
        """Of what was written so far, bare hex."""
        return self._digest.hexdigest()


def _sha256_of(path: Path) -> str | None:
    """The digest of a regular file; None where there is none that can be read."""
    digest = hashlib.sha256()
    try:
        with open_regular(path, str(path)) as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except (BadInputError, StoreError):
        return None
    return digest.hexdigest()


def _is_record(entry: Path, release: ReleaseId, wanted: bool) -> bool:
    """Whether a release's entry stands as it should: a provenance of its own, or nothing where none is `wanted`.

    The first build's record stays; a damaged one is replaced.
    """
    try:
        with open_regular(entry, str(entry)) as file:
            data = file.read(MAX_RECORD_BYTES)
        return read_provenance(data).release == release if data else not wanted
    except (BadInputError, StoreError):
        return False
