"""Temporary files of processes that were killed: known by their names and by that nobody holds them any more.

Whoever writes holds a lock (flock) on the first temporary file or folder of each folder until all have their names. The
system drops the lock of a killed process, so what can be locked is nobody's.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

_NAME = re.compile(r"\.(.{1,100})\.([0-9a-f]{12})\.tmp", re.DOTALL)
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def hold(path: Path, held: ExitStack, create: Callable[[], int]) -> int:
    """Create a temporary file or folder and hold it until `held` is left; `create` and this give its descriptor.

    Raises:
        OSError: It cannot be created.
    """
    while True:
        descriptor = create()
        # Of the same open file, so that it holds as long as one of the two is open.
        held.callback(os.close, os.dup(descriptor))
        # A file system without locks: then nothing here is ever taken for a leftover.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_still(path, descriptor):
            return descriptor
        # Another process took it for a leftover in the moment before it was held.
        os.close(descriptor)


def remove_leftovers(folder: Path, names: set[str]) -> None:
    """Remove what killed processes left of files with these names; whatever cannot be removed is left alone."""
    wanted = {name[:100] for name in names}
    if not any(found[1] in wanted for found in _found(folder)):
        return
    # Listed once more, since a folder that changes is listed in no certain order: of every group that was seen above,
    # what its writer holds is seen now.
    groups: dict[str, list[Path]] = {}
    for found in _found(folder):
        groups.setdefault(found[2], []).append(folder / found[0])
    for group in groups.values():
        if any((match := _NAME.fullmatch(path.name)) and match[1] in wanted for path in group):
            _remove_group(group)


def _found(folder: Path) -> list[re.Match[str]]:
    try:
        return [found for name in os.listdir(folder) if (found := _NAME.fullmatch(name))]  # noqa: PTH208 - names only
    except OSError:
        return []


def _remove_group(paths: list[Path]) -> None:
    with ExitStack() as held, suppress(OSError):
        for path in paths:
            descriptor = os.open(path, _OPEN)
            held.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path in paths:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
