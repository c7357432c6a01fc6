"""Write a release as a folder of plain files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trunchbuild.core.manifest import MANIFEST, PRIVATE, PROVENANCE
from trunchbuild.effects.files.api import Files, NewFile
from trunchbuild.effects.store.api import ReleaseFiles, Store
from trunchbuild.errors import UsageError


def export_release(
    files: ReleaseFiles, folder: Path, *, store: Store, user_files: Files, without_private: bool
) -> list[Path]:
    """Write every file of the release below `folder`, all or none; gives their paths.

    Raises:
        UsageError: Something else than an empty folder stands there.
        DamagedReleaseError: A file is not what the manifest lists; nothing is written.
    """
    if user_files.exists(folder) and (
        not user_files.is_folder(folder) or store.open_folder_raw(folder).names() or store.open_folder_raw(folder).odd()
    ):
        raise UsageError("the target is not an empty folder", place=str(folder), hint="name a new folder")
    present = files.names()
    new = [NewFile(folder / MANIFEST, [files.manifest_bytes])]
    for entry in files.manifest.files:
        if entry.path == PRIVATE and (without_private or PRIVATE not in present):
            continue
        content = _with_line_feeds(files, entry.path) if entry.lines is not None else [files.read(entry.path)]
        new.append(NewFile(folder / entry.path, content))
    if PROVENANCE in present:
        with files.raw.open(PROVENANCE) as file:
            new.append(NewFile(folder / PROVENANCE, [file.read()]))
    user_files.write_folder(folder, new)
    return [file.path for file in new]


def _with_line_feeds(files: ReleaseFiles, path: str) -> Iterator[bytes]:
    """The file's bytes; an error about its digest comes before the file gets its name."""
    for line in files.lines(path):
        yield line + b"\n"
