"""The content-addressed store of releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Protocol

from trunchbuild.core.ids import Digest, ReleaseId
from trunchbuild.core.manifest import Manifest


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

    def names(self) -> list[str]:
        """Every file present, sorted; among them files that the manifest does not list."""
        ...

    def read(self, path: str) -> bytes:
        """The whole of a small file (a module, the manifest), checked."""
        ...

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of `cases.jsonl` or `private.jsonl` without LF, streamed; the digest is checked by the end."""
        ...

    def has_private(self) -> bool:
        """Whether the private part is here (it may be withheld)."""
        ...


class Store(Protocol):
    """Releases by digest."""

    def add(self, files: Iterable[tuple[str, IO[bytes]]]) -> ReleaseId:
        """Add a release atomically: path -> content, `manifest.json` among them. Idempotent."""
        ...

    def open(self, release: ReleaseId) -> ReleaseFiles:
        """Open a release that the store holds."""
        ...

    def open_folder(self, folder: Path) -> ReleaseFiles:
        """Open a release folder anywhere; nothing is trusted."""
        ...

    def releases(self) -> list[ReleaseId]:
        """All releases, sorted."""
        ...

    def resolve(self, text: str) -> ReleaseId:
        """An id, a unique prefix of at least 8 hex digits, `name@version` when unique, or the shown form.

        Raises:
            BadInputError: Nothing or more than one matches; candidates are listed.
        """
        ...

    def provenance(self, release: ReleaseId) -> bytes | None:
        """`provenance.json` beside the manifest, outside the digest."""
        ...

    def has_object(self, digest: Digest) -> bool:
        """Whether an object is present."""
        ...
