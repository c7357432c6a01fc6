"""The store on a local disk: `objects/<2>/<rest>` write-once by digest, `releases/<hex>` written last.

An object gets its final name only after its bytes are on the disk; a release's entry is written only after all its
objects. So a crash or a full disk at any moment leaves loose temporary files at worst, never half an object or release.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.manifest import MANIFEST, PROVENANCE
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.effects.store._files import Files
from trunchbuild.effects.store._names import resolve
from trunchbuild.effects.store._raw import MAX_MANIFEST_BYTES, CheckedFiles, FolderFiles, MappedFiles, open_regular
from trunchbuild.effects.store._stage import DiskStage, store_errors
from trunchbuild.effects.store.api import DamagedReleaseError, StoreError, UnknownReleaseError, Usage
from trunchbuild.errors import BadInputError

_CHUNK = 1 << 20
_PREFIX = 2
"""Digits of an object's digest that name its folder."""


class DiskStore:
    """A store below one folder. Making the value touches nothing."""

    def __init__(self, root: Path, files: Files | None = None) -> None:
        self._root = root
        self._files = files or Files()

    @contextmanager
    def stage(self, *, keep: bool) -> Iterator[DiskStage]:
        """Begin a release; a shared lock keeps `collect` away until the end."""
        if not keep:
            with _temporary_folder(Path(tempfile.gettempdir()), "trunchbuild-") as folder:
                yield DiskStage(folder, self._files, None)
            return
        with store_errors(self._root):
            self._files.make_folder(self._root)
            lock = self._files.lock(self._root / "lock", exclusive=False)
        try:
            with store_errors(self._root):
                self._files.make_folder(self._root / "tmp")
            with _temporary_folder(self._root / "tmp", "tmp") as folder:
                yield DiskStage(folder, self._files, self._root)
        finally:
            os.close(lock)

    def add(self, files: Iterable[tuple[str, IO[bytes]]]) -> ReleaseId:
        """Add a release atomically."""
        with self.stage(keep=True) as stage:
            for path, content in files:
                with stage.create(path) as sink:
                    while chunk := content.read(_CHUNK):
                        sink.write(chunk)
            return stage.keep()

    def open(self, release: ReleaseId) -> CheckedFiles:
        """Open a release; its manifest is checked now, other files when they are read."""
        return CheckedFiles(self.open_raw(release), claimed=release)

    def open_raw(self, release: ReleaseId) -> MappedFiles:
        """The files of a release; those whose objects are missing are not among them."""
        entry = self._root / "releases" / release.hex
        if not entry.is_file() or entry.is_symlink():
            raise UnknownReleaseError(
                "the store does not hold this release",
                place=str(self._root),
                expected=str(release),
                hint="`trunchbuild list` shows what it holds",
            )
        paths = {MANIFEST: self._object(release.hex)}
        if entry.stat().st_size:
            paths[PROVENANCE] = entry
        try:
            with open_regular(paths[MANIFEST], str(release)) as file:
                manifest = read_manifest(file.read(MAX_MANIFEST_BYTES))
        except (StoreError, BadInputError):
            return MappedFiles(str(release), paths)
        paths.update((file.path, self._object(file.sha256)) for file in manifest.files)
        return MappedFiles(str(release), paths)

    def open_folder(self, folder: Path) -> CheckedFiles:
        """Open a release folder anywhere."""
        return CheckedFiles(FolderFiles(folder))

    def open_folder_raw(self, folder: Path) -> FolderFiles:
        """The files of a folder, unchecked."""
        return FolderFiles(folder)

    def releases(self) -> list[ReleaseId]:
        """All releases, sorted by digest."""
        return sorted(Digest(name) for name in self._listed(self._root / "releases") if _is_hex(name))

    def resolve(self, text: str) -> ReleaseId:
        """Find the one release that a person means."""
        return resolve(text, self.releases(), self._readable)

    def provenance(self, release: ReleaseId) -> bytes | None:
        """The record beside the manifest, if there is one."""
        with open_regular(self._root / "releases" / release.hex, str(release)) as file:
            return file.read() or None

    def usage(self) -> Usage:
        """Count objects and what of them is needed."""
        needed, objects = self._needed(), dict(self._objects())
        loose = [path for name, path in objects.items() if name not in needed] + self._leftovers()
        return Usage(
            releases=len(self.releases()),
            objects=len(objects),
            bytes=sum(map(_size, objects.values())),
            loose_objects=len(loose),
            loose_bytes=sum(map(_size, loose)),
        )

    def collect(self, forget: Sequence[ReleaseId] = ()) -> Usage:
        """Remove what no release needs, while nobody writes."""
        for release in forget:
            self.open_raw(release)
        if not self._root.is_dir():
            return self.usage()
        lock = self._lock_alone()
        try:
            with store_errors(self._root):
                for release in forget:
                    self._files.remove(self._root / "releases" / release.hex)
            before = self.usage()
            needed = self._needed()
            with store_errors(self._root):
                for name, path in self._objects():
                    if name not in needed:
                        self._files.remove(path)
                for path in self._leftovers():
                    self._files.remove(path)
                for name in self._listed(self._root / "tmp"):
                    self._files.remove_folder(self._root / "tmp" / name)
            return before
        finally:
            os.close(lock)

    def remove(self, release: ReleaseId) -> None:
        """Forget a release."""
        self.open_raw(release)
        with store_errors(self._root):
            self._files.remove(self._root / "releases" / release.hex)

    def _lock_alone(self) -> int:
        place = self._root / "lock"
        try:
            with store_errors(self._root):
                return self._files.lock(place, exclusive=True)
        except StoreError as error:
            if isinstance(error.__cause__, BlockingIOError):
                raise StoreError(
                    "another process is writing to the store",
                    place=str(self._root),
                    got=self._files.holders(place),
                    hint="try again when it is done",
                ) from error
            raise

    def _object(self, name: str) -> Path:
        return self._root / "objects" / name[:2] / name[2:]

    def _listed(self, folder: Path) -> list[str]:
        try:
            return sorted(entry.name for entry in folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"cannot list: {error.strerror}", place=str(folder)) from error

    def _objects(self) -> Iterator[tuple[str, Path]]:
        for prefix in self._listed(self._root / "objects"):
            folder = self._root / "objects" / prefix
            for rest in self._listed(folder) if folder.is_dir() else ():
                # What somebody else put here is neither counted nor removed.
                if _is_hex(prefix + rest) and len(prefix) == _PREFIX:
                    yield prefix + rest, folder / rest

    def _leftovers(self) -> list[Path]:
        return [path for path in sorted((self._root / "tmp").rglob("*")) if path.is_file()]

    def _manifest_of(self, release: ReleaseId) -> CheckedFiles | None:
        """The release; None where its manifest is damaged. One that may not be read is neither."""
        try:
            return self.open(release)
        except (BadInputError, DamagedReleaseError):
            return None

    def _readable(self, release: ReleaseId) -> CheckedFiles | None:
        """The release; None where its manifest is damaged or may not be read."""
        try:
            return self._manifest_of(release)
        except StoreError:
            return None

    def _needed(self) -> set[str]:
        """Objects that some release needs; of a damaged manifest the manifest alone, since it may yet be repaired."""
        needed: set[str] = set()
        for release in self.releases():
            needed.add(release.hex)
            files = self._manifest_of(release)
            if files is not None:
                needed.update(file.sha256 for file in files.manifest.files)
        return needed


@contextmanager
def _temporary_folder(above: Path, beginning: str) -> Iterator[Path]:
    """A folder for this user alone, which is removed at the end, also where an interrupt comes at its very start."""
    folder = above / f"{beginning}{secrets.token_hex(8)}"
    try:
        with store_errors(folder):
            folder.mkdir(mode=0o700)
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except KeyboardInterrupt:
            # It came while the folder was being removed.
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _size(path: Path) -> int:
    """Bytes of a file; none where another process took it away just now."""
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0


def _is_hex(name: str) -> bool:
    return len(name) == 64 and all(character in "0123456789abcdef" for character in name)
