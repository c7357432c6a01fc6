"""Whether a work tree differs from what is committed: a warning, since only the commit counts."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import sha1, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from trunchbuild.core.tree import MAX_FILE_BYTES
from trunchbuild.core.tree_objects import parse_tree
from trunchbuild.effects.git._local import LocalRepository
from trunchbuild.errors import TrunchbuildError

if TYPE_CHECKING:
    from dulwich.index import IndexEntry

_MAX_ENTRIES = 50_000
"""A larger index is not compared: it would take seconds (10,000 entries take 0.3 s)."""


def dirty_warning(repository: LocalRepository, head_tree: str | None) -> str | None:
    """A sentence that names a changed file, or None for a clean or a bare repository.

    Files that Git does not track are not looked for. Filters are not run: a file that only a filter could compare
    counts as changed when its time or size moved since Git last looked.
    """
    if repository.worktree is None:
        return None
    changed = next(_changes(repository, head_tree), None)
    if changed is None:
        return None
    return f"the work tree has changes that are not committed (`{changed}`); only the commit counts"


def _changes(repository: LocalRepository, head_tree: str | None) -> Iterator[str]:
    from dulwich.index import ConflictedIndexEntry, Index  # noqa: PLC0415 - bare and remote repositories have none
    from dulwich.object_format import OBJECT_FORMATS  # noqa: PLC0415

    assert repository.worktree is not None
    file = repository.control / "index"
    try:
        if not file.is_file():
            return
        written = file.stat().st_mtime_ns
        index = Index(str(file), read=True, object_format=OBJECT_FORMATS[repository.reader.object_format])
        entries = list(index.items())
    # The index is only looked at for a warning: one that cannot be read is none of this command's business.
    except Exception:
        return
    if len(entries) > _MAX_ENTRIES:
        return
    staged = {}
    for name, entry in entries:
        if isinstance(entry, ConflictedIndexEntry) or _differs(repository, name, entry, written):
            yield os.fsdecode(name)
        else:
            staged[name] = entry.sha.decode()
    if head_tree is not None:
        yield from _staged(repository, staged, head_tree)


def _differs(repository: LocalRepository, name: bytes, entry: IndexEntry, written: int) -> bool:
    """Compare a file with the index: by its stat data, and where they moved by its content."""
    assert repository.worktree is not None
    if entry.skip_worktree or stat.S_IFMT(entry.mode) == 0o160000:
        return False
    file = os.path.join(repository.worktree, os.fsdecode(name))  # noqa: PTH118 - a tenth of the time of Path
    try:
        status = os.lstat(file)
        if stat.S_IFMT(status.st_mode) != stat.S_IFMT(entry.mode):
            return True
        # A file that is as young as the index may have changed after Git looked ("racily clean").
        if status.st_size == entry.size and _same_time(entry, status) and status.st_mtime_ns < written:
            return False
        if status.st_size > MAX_FILE_BYTES:
            return True
        path = Path(file)
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    except OSError:
        return True
    # A checkout may have turned LF into CRLF.
    return entry.sha.decode() not in {_blob_id(repository, each) for each in (content, content.replace(b"\r\n", b"\n"))}


def _same_time(entry: IndexEntry, status: os.stat_result) -> bool:
    if isinstance(entry.mtime, tuple):
        return entry.mtime == divmod(status.st_mtime_ns, 1_000_000_000)
    return float(entry.mtime) == status.st_mtime


def _blob_id(repository: LocalRepository, content: bytes) -> str:
    algorithm = sha256 if repository.reader.object_format == "sha256" else sha1
    return algorithm(b"blob %d\0" % len(content) + content).hexdigest()


def _staged(repository: LocalRepository, index: dict[bytes, str], tree: str) -> Iterator[str]:
    """Names that the index holds otherwise than the commit that is checked out."""
    committed: dict[bytes, str] = {}
    left = [(b"", tree)]
    try:
        while left:
            folder, object_id = left.pop()
            _, raw = repository.reader.read(object_id, os.fsdecode(folder))
            for entry in parse_tree(raw, repository.reader.object_format, place=os.fsdecode(folder)):
                if entry.kind == "folder":
                    left.append((folder + entry.name + b"/", entry.object_id))
                else:
                    committed[folder + entry.name] = entry.object_id
            if len(committed) > _MAX_ENTRIES:
                return
    except TrunchbuildError:
        return
    for name in sorted(committed.keys() | index.keys()):
        if index.get(name) != committed.get(name):
            yield os.fsdecode(name)
