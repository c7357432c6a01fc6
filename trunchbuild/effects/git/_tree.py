"""The files of one commit, found by walking its tree objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from trunchbuild.core.tree import MissingFileError, NotAFileError, require_content
from trunchbuild.core.tree_names import name_fault, path_parts
from trunchbuild.core.tree_objects import MalformedObjectError, Tree, TreeEntry, parse_tree
from trunchbuild.errors import BadInputError

if TYPE_CHECKING:
    from trunchbuild.effects.git._objects import ObjectReader
    from trunchbuild.effects.git.api import Pin


class BlobSource(Protocol):
    """Brings blobs that are not here yet; a local repository has none."""

    def fetch(self, wanted: Mapping[str, str]) -> None:
        """Fetch those that are missing, in few requests; object id -> path, for messages."""
        ...


class ObjectTree:
    """A `CommitTree` over an object reader. Not for threads."""

    def __init__(
        self,
        pin: Pin,
        reader: ObjectReader,
        *,
        blobs: BlobSource | None = None,
        worktree: Path | None = None,
        max_paths: int,
    ) -> None:
        """`worktree` serves hints only: a file that is there and not in the commit."""
        self._pin = pin
        self._reader = reader
        self._blobs = blobs
        self._worktree = worktree
        self._max_paths = max_paths
        self._trees: dict[str, Tree] = {}
        self._paths: list[str] | None = None

    @property
    def pin(self) -> Pin:
        """The commit that this tree belongs to."""
        return self._pin

    def commit_object(self) -> bytes:
        """The commit's own bytes; see `CommitTree.commit_object`."""
        return self._reader.read(self._pin.commit, f"commit {self._pin.commit}")[1]

    def read(self, path: str) -> bytes:
        """The raw blob: no line-end conversion, no filter, no substitution; see `SourceTree.read`."""
        try:
            entry = self._find(path)
        except MissingFileError as error:
            if self._worktree is not None and (self._worktree / path).is_file():
                hint = "the work tree has it, the commit does not: git add, git commit"
                raise MissingFileError("no such file in the commit", place=path, hint=hint) from error
            raise
        if self._blobs is not None:
            self._blobs.fetch({entry.object_id: path})
        kind, data = self._reader.read(entry.object_id, path)
        if kind != "blob":
            raise MalformedObjectError(f"the tree calls it a file, the object is a {kind}", place=path)
        return require_content(path, data)

    def is_file(self, path: str) -> bool:
        """Whether a regular file stands at this exact path; see `SourceTree.is_file`."""
        try:
            parts = path_parts(path)
        except BadInputError:
            return False
        tree = self._pin.tree
        for part in parts[:-1]:
            folder = self._tree(tree, path).get(part)
            if folder is None or folder.kind != "folder":
                return False
            tree = folder.object_id
        entry = self._tree(tree, path).get(parts[-1])
        return entry is not None and entry.kind == "file"

    def prefetch(self, paths: Iterable[str]) -> None:
        """Fetch the blobs of those paths that are readable, at once; `read` says what is wrong with the others."""
        if self._blobs is None:
            return
        wanted = {}
        for path in paths:
            try:
                wanted[self._find(path).object_id] = path
            except BadInputError:
                continue
        self._blobs.fetch(wanted)

    def paths(self) -> Iterable[str]:
        """Every regular file's path, sorted; needs trees only.

        Raises:
            MalformedObjectError: There are more than the limit.
        """
        if self._paths is None:
            self._paths = sorted(self._walk())
        return tuple(self._paths)

    def _walk(self) -> Iterator[str]:
        left = [("", self._pin.tree)]
        count = 0
        while left:
            folder, tree = left.pop()
            for entry in self._tree(tree, folder or "/").entries:
                if name_fault(entry.name) is not None:
                    continue
                path = folder + entry.name.decode()
                count += 1
                if count > self._max_paths:
                    raise MalformedObjectError(
                        "the commit holds too many files", expected=f"at most {self._max_paths:,}", place=path[:200]
                    )
                if entry.kind == "folder":
                    left.append((f"{path}/", entry.object_id))
                elif entry.kind == "file":
                    yield path

    def _find(self, path: str) -> TreeEntry:
        """The entry of a regular file."""
        parts = path_parts(path)
        tree = self._pin.tree
        for count, part in enumerate(parts, 1):
            entry = self._tree(tree, path).pick(part, place=path)
            wanted = "file" if count == len(parts) else "folder"
            if entry.kind != wanted:
                raise _not_a_file(entry, path, "/".join(parts[:count]), wanted)
            tree = entry.object_id
        return entry

    def _tree(self, object_id: str, place: str) -> Tree:
        if object_id not in self._trees:
            kind, raw = self._reader.read(object_id, place)
            if kind != "tree":
                raise MalformedObjectError(f"a folder of the commit is a {kind}", place=place)
            self._trees[object_id] = Tree(parse_tree(raw, self._reader.object_format, place=place))
        return self._trees[object_id]


def _not_a_file(entry: TreeEntry, path: str, here: str, wanted: str) -> NotAFileError:
    hints = {
        "link": "commit the file itself; links may lead anywhere and are not followed",
        "submodule": "a submodule's files are in another repository: commit copies of those that the benchmark needs",
        "folder": "name a file in it",
        "file": None,
    }
    names = {"link": "a symbolic link", "submodule": "a submodule", "folder": "a folder", "file": "a file"}
    return NotAFileError(
        f"`{here}` is {names[entry.kind]}",
        place=path,
        expected="a regular file" if wanted == "file" else "a folder",
        got=names[entry.kind],
        hint=hints[entry.kind],
    )
