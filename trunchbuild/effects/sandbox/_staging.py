"""A copy of a folder without what must not be seen, made of links: for a way that can only allow, never hide.

Landlock's rules add up, so a folder inside an allowed one cannot be taken out again. A request that hides folders gets
a tree of its own instead, once a machine: real folders, links to the host's files, nothing where something is hidden.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from trunchbuild.core.confinement import SandboxRequest


def staged(request: SandboxRequest, cache: Path) -> tuple[SandboxRequest, dict[Path, str]]:
    """The request with its hidden folders gone from the files it names, and the files that links point to.

    What stands beside a folder with a hidden one (`/python/bin` beside `/python/lib`) moves along: programs find their
    libraries by where they stand.

    Returns:
        The request, whose `read_only` names the tree, and host path -> `file` or `folder` of what its links lead to.

    Raises:
        OSError: The tree cannot be written.
    """
    if not request.hidden:
        return request, {}
    groups = {PurePosixPath(inside).parts[1] for inside in request.hidden}
    moved = {host: inside for host, inside in request.read_only.items() if PurePosixPath(inside).parts[1] in groups}
    tree = cache / _key(request, moved)
    if not tree.is_dir():
        _build(tree, request, moved)
    targets = {
        path: "folder" if path.is_dir() else "file"
        for host, inside in moved.items()
        if host.is_dir()
        for path in _kept(host, PurePosixPath(inside), request.hidden)
    }
    places = {tree.joinpath(*PurePosixPath(inside).parts[1:]): inside for inside in moved.values()}
    kept = {host: inside for host, inside in request.read_only.items() if host not in moved}
    program = moved.get(Path(request.argv[0]))
    argv = request.argv if program is None else (str(tree / program.lstrip("/")), *request.argv[1:])
    return replace(request, argv=argv, read_only={**places, **kept}, hidden=()), targets


def _key(request: SandboxRequest, moved: dict[Path, str]) -> str:
    """Changes with every file or folder that the tree is made of."""
    states = ((str(host), inside, host.stat()) for host, inside in moved.items())
    parts = [repr((host, inside, state.st_ino, state.st_size, state.st_mtime_ns)) for host, inside, state in states]
    return hashlib.sha256("\0".join([*parts, *request.hidden]).encode()).hexdigest()[:32]


def _build(tree: Path, request: SandboxRequest, moved: dict[Path, str]) -> None:
    """Write the tree beside its place and move it there whole; another process may have been first."""
    tree.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=tree.parent, prefix="draft-"))
    try:
        for host, inside in moved.items():
            place = draft / inside.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if host.is_dir():
                _fill(host, PurePosixPath(inside), place, request.hidden)
            else:
                # A copy: a program looks for its files where its own file is, through links.
                shutil.copy2(host, place)
        draft.chmod(0o755)
        draft.rename(tree)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        if not tree.is_dir():
            raise


def _fill(host: Path, inside: PurePosixPath, place: Path, hidden: Sequence[str]) -> None:
    place.mkdir(exist_ok=True)
    for entry in os.scandir(host):
        child = inside / entry.name
        if _is_hidden(child, hidden):
            (place / entry.name).mkdir()
        elif _holds_hidden(child, hidden):
            _fill(Path(entry.path), child, place / entry.name, hidden)
        else:
            (place / entry.name).symlink_to(entry.path)


def _kept(host: Path, inside: PurePosixPath, hidden: Sequence[str]) -> Iterator[Path]:
    """What the links of `_fill` lead to."""
    for entry in os.scandir(host):
        child = inside / entry.name
        if _holds_hidden(child, hidden):
            yield from _kept(Path(entry.path), child, hidden)
        elif not _is_hidden(child, hidden):
            yield Path(entry.path)


def _is_hidden(path: PurePosixPath, hidden: Sequence[str]) -> bool:
    return str(path) in hidden


def _holds_hidden(path: PurePosixPath, hidden: Sequence[str]) -> bool:
    return any(name.startswith(f"{path}/") for name in hidden)
