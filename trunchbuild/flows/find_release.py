"""Find the release that an argument names: an id, a prefix, name@version, the shown form, a lockfile or a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.lockfile import SUFFIX, Lockfile, parse_lock
from trunchbuild.effects.files.api import Files
from trunchbuild.effects.store.api import ReleaseFiles, Store, UnknownReleaseError


@dataclass(frozen=True, slots=True)
class FoundRelease:
    """A release and how it was named."""

    files: ReleaseFiles
    lock: Lockfile | None = None
    """Where a lockfile named it."""
    folder: Path | None = None
    """Where a folder named it; the store need not hold it."""


def names_lockfile(text: str) -> bool:
    """Whether an argument means a lockfile: by its name alone, so that a missing one is an error about a file."""
    return text.endswith(SUFFIX)


def names_folder(text: str, *, store: Store, files: Files) -> bool:
    """Whether an argument means a folder: it is one, and it is written as a path or no release has that name."""
    if not text or not files.is_folder(Path(text)):
        return False
    if "/" in text or text in (".", ".."):
        return True
    try:
        store.resolve(text)
    except UnknownReleaseError:
        return True
    return False


def find_release(text: str, *, store: Store, files: Files) -> FoundRelease:
    """Open the release that `text` names; its manifest is checked, other files when they are read.

    Raises:
        UnknownReleaseError: Nothing, or more than one, has that name.
        BadInputError: The lockfile or the folder cannot be read as one.
    """
    if names_lockfile(text):
        return open_locked(parse_lock(files.read(Path(text)), text), text, store)
    if names_folder(text, store=store, files=files):
        return FoundRelease(store.open_folder(Path(text)), folder=Path(text))
    return FoundRelease(store.open(store.resolve(text)))


def open_locked(lock: Lockfile, place: str, store: Store) -> FoundRelease:
    """Open the release that a lock pins.

    Raises:
        UnknownReleaseError: The store does not hold it; the hint says how to get it.
    """
    if not is_stored(lock.digest, store):
        revision = lock.source.url or "REPO"
        raise UnknownReleaseError(
            "the store does not hold the release of this lockfile",
            place=place,
            expected=str(lock.digest),
            hint=f"`trunchbuild compile {revision}@{lock.source.commit} --config {lock.source.config}` rebuilds it, "
            "`trunchbuild import FOLDER` takes a copy",
        )
    return FoundRelease(store.open(lock.digest), lock=lock)


def named_digest(text: str, *, store: Store, files: Files) -> ReleaseId:
    """The digest that an argument names, whether or not the store's copy of that release is whole.

    Raises:
        UnknownReleaseError: Nothing, or more than one, has that name.
        BadInputError: The lockfile or the folder cannot be read as one.
    """
    if names_lockfile(text):
        return parse_lock(files.read(Path(text)), text).digest
    if names_folder(text, store=store, files=files):
        return store.open_folder(Path(text)).digest
    return store.resolve(text)


def is_stored(release: ReleaseId, store: Store) -> bool:
    """Whether the store holds a release."""
    return release in store.releases()
