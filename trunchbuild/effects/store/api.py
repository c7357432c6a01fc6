"""The content-addressed store of releases, and release folders anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Protocol

from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.manifest import Manifest
from trunchbuild.errors import BadInputError, CheckedNoError, MachineError


class StoreError(MachineError):
    """The store's folder cannot be read or written; nothing half-written stands under a final name."""

    slug: ClassVar[str] = "store"


class DamagedReleaseError(CheckedNoError):
    """Bytes of a release are not those that its manifest or its id states."""

    slug: ClassVar[str] = "damaged-release"


class UnknownReleaseError(BadInputError):
    """No release answers to that name, or more than one does."""

    slug: ClassVar[str] = "unknown-release"


class RawFiles(Protocol):
    """The files of a release as they are found; nothing was compared with anything yet."""

    @property
    def place(self) -> str:
        """How messages name this release: its folder or its id."""
        ...

    def names(self) -> list[str]:
        """Every file present, sorted; `manifest.json`, `provenance.json` and unlisted ones among them."""
        ...

    def odd(self) -> list[str]:
        """What stands there but is no regular file (links, sockets), sorted; never opened."""
        ...

    def open(self, path: str) -> IO[bytes]:
        """Open one file for reading; the caller closes it.

        Raises:
            BadInputError: There is no regular file of that name.
            StoreError: It cannot be read.
        """
        ...

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of one of the files, each with its LF; a last one perhaps without.

        Raises:
            BadInputError: As for `open`, or a line is longer than any that a release may hold.
        """
        ...


class ReleaseFiles(Protocol):
    """The bytes of one release, from the store or from a folder. Every read re-hashes against the manifest."""

    @property
    def digest(self) -> ReleaseId:
        """SHA-256 of the manifest bytes that are actually here."""
        ...

    @property
    def manifest(self) -> Manifest:
        """The parsed manifest."""
        ...

    @property
    def manifest_bytes(self) -> bytes:
        """`manifest.json` as it is."""
        ...

    @property
    def raw(self) -> RawFiles:
        """The same files, unchecked."""
        ...

    def names(self) -> list[str]:
        """Every file present, sorted; among them files that the manifest does not list."""
        ...

    def read(self, path: str) -> bytes:
        """The whole of a listed file, checked.

        Raises:
            BadInputError: The manifest does not list it, or it is not here.
            DamagedReleaseError: Its bytes are not those that the manifest lists.
        """
        ...

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of `cases.jsonl` or `private.jsonl` without LF, streamed; the digest is checked by the end.

        Raises:
            DamagedReleaseError: After the last line, where the bytes are not those that the manifest lists.
        """
        ...

    def has_private(self) -> bool:
        """Whether the private part is here (it may be withheld)."""
        ...


class ByteSink(Protocol):
    """Where the bytes of one file go."""

    def write(self, data: bytes, /) -> int:
        """Write all of `data`; gives its length."""
        ...


class Stage(Protocol):
    """A release while it is written: temporary files that vanish unless kept."""

    def create(self, path: str) -> AbstractContextManager[ByteSink]:
        """Write one file of the release; each path once."""
        ...

    def files(self) -> ReleaseFiles:
        """The release so far; `manifest.json` must be among the files."""
        ...

    def keep(self) -> ReleaseId:
        """Move all files to the store, the release's own entry last. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Usage:
    """What a store holds, in files and bytes."""

    releases: int
    objects: int
    bytes: int
    loose_objects: int
    """Objects that no release needs, with interrupted temporary files; what `gc` removes."""
    loose_bytes: int


class Store(Protocol):
    """Releases by digest."""

    def stage(self, *, keep: bool) -> AbstractContextManager[Stage]:
        """Begin a release. Without `keep` nothing of the store is touched, not even its folder made."""
        ...

    def add(self, files: Iterable[tuple[str, IO[bytes]]]) -> ReleaseId:
        """Add a release atomically: path -> content, `manifest.json` among them. Idempotent."""
        ...

    def open(self, release: ReleaseId) -> ReleaseFiles:
        """Open a release that the store holds.

        Raises:
            UnknownReleaseError: It does not hold it.
            DamagedReleaseError: Its manifest's bytes are not those of its id.
        """
        ...

    def open_raw(self, release: ReleaseId) -> RawFiles:
        """The files of a release that the store holds, unchecked."""
        ...

    def open_folder(self, folder: Path) -> ReleaseFiles:
        """Open a release folder anywhere; nothing is trusted."""
        ...

    def open_folder_raw(self, folder: Path) -> RawFiles:
        """The files of a folder, unchecked."""
        ...

    def releases(self) -> list[ReleaseId]:
        """All releases, sorted."""
        ...

    def resolve(self, text: str) -> ReleaseId:
        """An id, a unique prefix of at least 8 hex digits, `name@version` when unique, or the shown form.

        Raises:
            UnknownReleaseError: Nothing or more than one matches; candidates are listed.
        """
        ...

    def provenance(self, release: ReleaseId) -> bytes | None:
        """`provenance.json` beside the manifest, outside the digest."""
        ...

    def usage(self) -> Usage:
        """Count what is there."""
        ...

    def collect(self, forget: Sequence[ReleaseId] = ()) -> Usage:
        """Forget releases, and remove what no other needs; gives what was there before the removal.

        Raises:
            UnknownReleaseError: The store does not hold one of those to forget; nothing is removed.
            StoreError: Another process is writing to the store.
        """
        ...

    def remove(self, release: ReleaseId) -> None:
        """Forget a release; its objects go with the next `collect`."""
        ...
