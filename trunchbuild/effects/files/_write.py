"""Files that get their names only when they are whole and on the disk."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from trunchbuild.effects.files._leftovers import hold, remove_leftovers
from trunchbuild.effects.files.api import NewFile
from trunchbuild.errors import MachineError

_CURES = {
    errno.ENOSPC: "free some space and run the same command again; what stood there before still does",
    errno.EDQUOT: "free some space and run the same command again; what stood there before still does",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: "name a place that can be written",
    errno.EPERM: "name a place that can be written",
    errno.ENAMETOOLONG: "give a shorter name",
}


def replace(files: Sequence[NewFile]) -> None:
    """See `Files.replace`."""
    for file in files:
        _refuse_other_than_regular(file.path)
    folders = list(dict.fromkeys(file.path.parent for file in files))
    for folder in folders:
        remove_leftovers(folder, {file.path.name for file in files if file.path.parent == folder})
    with ExitStack() as held, ExitStack() as undo:
        token, begun, pairs = secrets.token_hex(6), set[Path](), list[tuple[Path, Path]]()
        for file in files:
            temporary = _temporary(file.path, token)
            try:
                _make_folders(file.path.parent, undo)
                # Before it is there: an interrupt between the two would leave it behind.
                undo.callback(_remove, temporary)
                _write(file, temporary, None if file.path.parent in begun else held)
            except OSError as error:
                raise _unwritten(error, file.path) from None
            begun.add(file.path.parent)
            pairs.append((temporary, file.path))
        for temporary, target in pairs:
            try:
                temporary.replace(target)
            except OSError as error:
                raise _unwritten(error, target) from None
        undo.pop_all()
        for folder in folders:
            _sync(folder, next(file.path for file in files if file.path.parent == folder))


def write_folder(folder: Path, files: Sequence[NewFile]) -> None:
    """See `Files.write_folder`."""
    if _keeps_its_place(folder):
        # The first file is what makes the others count: it comes last.
        replace([*files[1:], files[0]])
        return
    token = secrets.token_hex(6)
    remove_leftovers(folder.parent, {folder.name})
    with ExitStack() as held, ExitStack() as undo:
        temporary = _temporary(folder, token)
        try:
            _make_folders(folder.parent, undo)
            undo.callback(shutil.rmtree, temporary, ignore_errors=True)
            os.close(hold(temporary, held, lambda: _new_folder(temporary)))
            made = [temporary]
            for file in files:
                inside = temporary / file.path.relative_to(folder)
                made += _make_folders(inside.parent, undo)
                _write(file, inside, None)
            for new in reversed(made):
                sync_folder(new)
            # An empty folder that stands there gives way.
            temporary.rename(folder)
        except OSError as error:
            raise _unwritten(error, folder) from None
        undo.pop_all()
        _sync(folder.parent, folder)


def make_folder(path: Path) -> None:
    """See `Files.make_folder`."""
    with folder_for(path):
        pass


@contextmanager
def folder_for(path: Path) -> Iterator[None]:
    """Make a folder; where the block fails, those that were made are removed again, as far as they are empty."""
    with ExitStack() as undo:
        _make_folder_or_say(path, undo)
        yield
        undo.pop_all()


def _make_folder_or_say(path: Path, undo: ExitStack) -> None:
    try:
        _make_folders(path, undo)
        path.mkdir(exist_ok=True)
    except OSError as error:
        hint = _CURES.get(error.errno or 0)
        raise MachineError(f"the folder cannot be made: {error.strerror}", place=str(path), hint=hint) from None


def sync_folder(folder: Path) -> None:
    """Put the names of a folder on the disk; a file system that cannot do that to folders is no reason to fail."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
    finally:
        os.close(descriptor)


def _sync(folder: Path, new: Path) -> None:
    """Make the new names in a folder last."""
    try:
        sync_folder(folder)
    except PermissionError:
        # A folder that may be written and not read can be synced by nobody.
        return
    except OSError as error:
        message = f"it is written, but may be lost in a power cut: {error.strerror}"
        hint = "look after the disk, then run the same command again"
        raise MachineError(message, place=str(new), hint=hint) from None


def _write(file: NewFile, temporary: Path, held: ExitStack | None) -> None:
    """Write the content and put it on the disk; `held` keeps others from taking it for a leftover."""

    def create() -> int:
        return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)

    descriptor = create() if held is None else hold(temporary, held, create)
    with open(descriptor, "wb") as out:  # noqa: PTH123 - a descriptor, opened exclusively
        with suppress(FileNotFoundError):
            # What others could not read before they shall not read now.
            os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) & stat.S_IMODE(file.path.lstat().st_mode))
        for chunk in file.content:
            out.write(chunk)
        out.flush()
        os.fsync(descriptor)


def _temporary(path: Path, token: str) -> Path:
    return path.with_name(f".{path.name[:100]}.{token}.tmp")


def _keeps_its_place(folder: Path) -> bool:
    """Whether a folder must stay the very one that it is: a shell stands in it, something is mounted there."""
    if not os.path.lexists(folder):
        return False
    return (
        folder.is_symlink()
        or os.path.ismount(folder)
        or folder.resolve() == Path.cwd().resolve()
        or not os.access(folder.parent, os.W_OK)
        or any(folder.iterdir())
    )


def _make_folders(folder: Path, undo: ExitStack) -> list[Path]:
    """Make what is missing, each on the disk before something is put into it; gives what was made."""
    missing = [candidate for candidate in (folder, *folder.parents) if not candidate.exists()]
    made = []
    for candidate in reversed(missing):
        with suppress(FileExistsError):
            candidate.mkdir()
            undo.callback(_remove_folder, candidate)
            made.append(candidate)
            with suppress(PermissionError):
                sync_folder(candidate.parent)
    return made


def _new_folder(folder: Path) -> int:
    while True:
        folder.mkdir()
        with suppress(FileNotFoundError):
            return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _remove_folder(path: Path) -> None:
    with suppress(OSError):
        path.rmdir()


def _unwritten(error: OSError, path: Path) -> MachineError:
    hint = _CURES.get(error.errno or 0)
    return MachineError(f"cannot be written: {error.strerror}", place=str(path), hint=hint)


def _refuse_other_than_regular(path: Path) -> None:
    """A rename would put a regular file in the place of a device or a link, as root even of `/dev/null`."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise MachineError(
            "not replaced", place=str(path), expected="a regular file, or nothing there yet", got=kind_of(mode)
        )


def kind_of(mode: int) -> str:
    """What stands at a path, in words."""
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe"}
    return kinds.get(stat.S_IFMT(mode), "a special file")
