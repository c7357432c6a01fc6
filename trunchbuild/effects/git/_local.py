"""Repositories on this machine, opened in place: plain, bare, linked work trees, shared object folders."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

from dulwich.config import ConfigFile
from dulwich.refs import DiskRefsContainer, Ref, RefsContainer, SymrefLoop

from trunchbuild.core.revision import ObjectFormat
from trunchbuild.effects.git._folders import Store, require_file
from trunchbuild.effects.git._objects import ObjectReader
from trunchbuild.effects.git.api import CorruptRepositoryError, NotARepositoryError, UnsupportedRepositoryError
from trunchbuild.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dulwich.objects import ObjectID

# `Documentation/technical/repository-version.txt` and `man git-config`, extensions.*. These change nothing in how
# objects are read, or are handled below.
_EXTENSIONS = {
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
}

_REF_BYTES = 64 << 10
"""Of a file that holds one id, one name or one path."""
_CONFIG_BYTES = 4 << 20
_PACKED_REFS_BYTES = 256 << 20

_PARTIAL_HINT = "this is a partial clone: `git checkout` of the commit fetches its files, or give the remote's url"
_SHALLOW_HINT = "this is a shallow clone: `git fetch --unshallow` completes it"


class _Refs(DiskRefsContainer):
    """dulwich's refs, which would wait for ever at a pipe."""

    def read_loose_ref(self, name: Ref) -> bytes | None:
        """The content of a ref's file."""
        require_file(Path(os.fsdecode(self.refpath(name))), _REF_BYTES)
        return super().read_loose_ref(name)

    def get_packed_refs(self) -> dict[Ref, ObjectID]:
        """All refs of `packed-refs`."""
        require_file(Path(os.fsdecode(self.path)) / "packed-refs", _PACKED_REFS_BYTES)
        return super().get_packed_refs()


@dataclass(frozen=True, slots=True)
class LocalRepository:
    """An open repository; `close` it."""

    control: Path
    """`.git` of this work tree."""
    worktree: Path | None
    """None for a bare repository."""
    reader: ObjectReader
    refs: RefsContainer | None
    """None for refs in a reftable (Git 2.45): no reader of them is proven yet, full ids work."""

    def ids_of(self, names: Iterable[str]) -> dict[str, str]:
        """Ref name -> object id of those refs that exist; symbolic refs are followed.

        Raises:
            CorruptRepositoryError: A ref's file holds no id.
            UnsupportedRepositoryError: The refs cannot be read.
        """
        if self.refs is None:
            raise UnsupportedRepositoryError(
                "refs in a reftable are not read",
                place=str(self.control),
                hint="give the commit's full id; `git rev-parse REV` prints it",
            )
        found = {}
        for name in names:
            try:
                _, value = self.refs.follow(Ref(os.fsencode(name)))
            except (SymrefLoop, ValueError, OSError) as error:
                raise CorruptRepositoryError(f"the ref cannot be read ({error})", place=name) from error
            if value is None:
                continue
            text = value.decode("ascii", "replace")
            if len(text) not in {40, 64} or not all(c in "0123456789abcdef" for c in text):
                raise CorruptRepositoryError("the ref holds no object id", place=name, got=repr(text))
            found[name] = text
        return found

    def head(self) -> str | None:
        """The full name of the branch that HEAD points to; None where it is detached."""
        if self.refs is None:
            return None
        try:
            names, _ = self.refs.follow(Ref(b"HEAD"))
        except (SymrefLoop, ValueError, OSError):
            return None
        last = os.fsdecode(names[-1]) if names else "HEAD"
        return last if last != "HEAD" else None

    def names(self) -> list[str]:
        """All branches and tags, short, for hints."""
        if self.refs is None:
            return []
        try:
            keys = [os.fsdecode(key) for key in self.refs.allkeys()]
        except OSError:
            return []
        return sorted(
            key.split("/", 2)[2] for key in keys if key.startswith(("refs/heads/", "refs/tags/", "refs/remotes/"))
        )

    def close(self) -> None:
        """Close the packs."""
        self.reader.close()


def open_local(path: Path, *, max_bytes: int) -> LocalRepository:
    """Open the repository whose work tree or bare folder is `path`; nothing is written and no command is run.

    Raises:
        NotARepositoryError: There is none (the hint names one above).
        UnsupportedRepositoryError: It has an extension that is not known here.
        MachineError: The operating system refuses.
    """
    try:
        found = _control_folder(path)
        if found is None:
            raise _not_here(path)
        control, worktree = found
        common = _common_folder(control)
        require_file(common / "config", _CONFIG_BYTES)
        with (common / "config").open("rb") as file:
            config = ConfigFile.from_file(file, file_opener=_include)
        object_format, reftable, partial = _settings(config, path)
        shallow = (common / "shallow").is_file()
        reader = ObjectReader(
            Store(common / "objects", object_format),
            object_format,
            max_bytes=max_bytes,
            missing_hint=_PARTIAL_HINT if partial else _SHALLOW_HINT if shallow else None,
        )
    except FileNotFoundError as error:
        raise NotARepositoryError("the Git repository is incomplete", place=str(path), got=str(error)) from error
    except OSError as error:
        raise MachineError(f"cannot read the repository ({error.strerror})", place=str(error.filename)) from error
    except ValueError as error:
        raise CorruptRepositoryError(f"the repository's config cannot be read ({error})", place=str(path)) from error
    refs = None if reftable else _Refs(str(common), str(control))
    return LocalRepository(control, worktree, reader, refs)


def _control_folder(path: Path) -> tuple[Path, Path | None] | None:
    """The control folder and the work tree, as Git finds them in this very folder."""
    inner = path / ".git"
    if inner.is_file():
        require_file(inner, _REF_BYTES)
        text = inner.read_bytes()
        if not text.startswith(b"gitdir: "):
            raise CorruptRepositoryError("a `.git` file without `gitdir:`", place=str(inner))
        return path / os.fsdecode(text.removeprefix(b"gitdir: ").rstrip(b"\r\n")), path
    if (inner / "objects").is_dir():
        return inner, path
    if (path / "objects").is_dir() and (path / "HEAD").is_file():
        return path, None
    return None


def _common_folder(control: Path) -> Path:
    """The folder that holds objects and config; a linked work tree names it in `commondir`."""
    require_file(control / "commondir", _REF_BYTES)
    try:
        return control / os.fsdecode((control / "commondir").read_bytes().rstrip(b"\r\n"))
    except FileNotFoundError:
        return control


def _include(path: str | os.PathLike[str]) -> NoReturn:
    """Included files are not read, as Git itself reads a repository's format: they may be anything, `/dev/zero` too."""
    raise FileNotFoundError(path)


def _settings(config: ConfigFile, path: Path) -> tuple[ObjectFormat, bool, bool]:
    """Object format, whether refs are in a reftable, whether the clone is partial."""
    version = _value(config, ("core",), "repositoryformatversion") or "0"
    if version not in {"0", "1"}:
        raise UnsupportedRepositoryError("unknown repository format", place=str(path), expected="0 or 1", got=version)
    values = {}
    if any(section == (b"extensions",) for section in config.sections()):
        values = {key.decode().lower(): value.decode() for key, value in config.items((b"extensions",))}
    if unknown := sorted(values.keys() - _EXTENSIONS):
        raise UnsupportedRepositoryError(f"the repository extension `{unknown[0]}` is not supported", place=str(path))
    object_format = values.get("objectformat", "sha1").lower()
    if object_format not in {"sha1", "sha256"}:
        raise UnsupportedRepositoryError(f"unknown object format `{object_format}`", place=str(path))
    storage = values.get("refstorage", "files").lower()
    if storage not in {"files", "reftable"}:
        raise UnsupportedRepositoryError(f"unknown ref storage `{storage}`", place=str(path))
    promisors = any(_value(config, section, "promisor") == "true" for section in _remotes(config))
    return cast("ObjectFormat", object_format), storage == "reftable", "partialclone" in values or promisors


def _remotes(config: ConfigFile) -> list[tuple[str, ...]]:
    return [tuple(part.decode() for part in section) for section in config.sections() if section[0] == b"remote"]


def _value(config: ConfigFile, section: tuple[str, ...], name: str) -> str | None:
    try:
        value = config.get(tuple(part.encode() for part in section), name.encode())
    except KeyError:
        return None
    return value.decode() if value is not None else None


def _not_here(path: Path) -> NotARepositoryError:
    if not path.exists():
        hint = "REPO and REV are divided at the last `@`: a path that holds one needs a REV, ./my@bench@HEAD"
        return NotARepositoryError("no such folder", place=str(path), expected="a Git repository", hint=hint)
    absolute = path.resolve()
    above = next((parent for parent in absolute.parents if (parent / ".git").exists()), None)
    return NotARepositoryError(
        "no Git repository here",
        place=str(path),
        hint=f"the repository's root is {above}" if above else "make one: git init, git add, git commit",
    )
