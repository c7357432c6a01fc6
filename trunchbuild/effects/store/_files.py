"""The few calls by which the store changes a disk, one method each, so that a test can make any of them fail."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from trunchbuild.core.file_locks import held_by, holders


class Files:
    """The real file system. Methods raise OSError; `effects/store/_disk.py` turns it into a StoreError."""

    def make_folder(self, folder: Path) -> None:
        """Make a folder and its parents, if they are not there; each is on the disk before anything is put into it."""
        if folder.is_dir():
            return
        self.make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)

    def create(self, path: Path) -> IO[bytes]:
        """Create a new file for writing; refuses an existing one."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        return cast("IO[bytes]", os.fdopen(descriptor, "w+b"))

    def write(self, file: IO[bytes], data: bytes) -> None:
        """Write all of `data`."""
        file.write(data)

    def seal(self, file: IO[bytes]) -> None:
        """Put the content on the disk and forbid writing to the file."""
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), 0o444)

    def rename(self, source: Path, target: Path) -> None:
        """Give a file its final name, at once for every reader, and put the folder on the disk."""
        source.rename(target)
        _sync_folder(target.parent)

    def remove(self, path: Path) -> None:
        """Remove a file; one that is not there is no error."""
        path.unlink(missing_ok=True)

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder with all that is in it; one that is not there is no error."""
        with suppress(FileNotFoundError):
            shutil.rmtree(folder)

    def holders(self, path: Path) -> str | None:
        """The processes that hold the store's lock; None where the machine does not say."""
        try:
            status = path.stat()
            table = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
        except OSError:
            return None
        return held_by(holders(table, (os.major(status.st_dev), os.minor(status.st_dev)), status.st_ino))

    def lock(self, path: Path, *, exclusive: bool) -> int:
        """Take the store's lock; shared waits, exclusive gives up at once with BlockingIOError."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # A file system that cannot do that to folders is no reason to fail.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
    finally:
        os.close(descriptor)
