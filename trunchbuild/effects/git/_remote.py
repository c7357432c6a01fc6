"""A throwaway object store that is filled from a server, with as little as will do."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path

from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import ObjectFormat
from trunchbuild.core.tree import FileTooLargeError
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._objects import ObjectReader, Store, release_buffers
from trunchbuild.effects.git._pack_scan import scan_pack
from trunchbuild.effects.git._transport import PackTooLargeError, Transport
from trunchbuild.effects.git.api import CommitNotServedError, CorruptRepositoryError, RepositoryUnreachableError
from trunchbuild.errors import MachineError, TrunchbuildError

WANTS_PER_REQUEST = 5_000
_MAX_OBJECT_BYTES = 512 << 20
"""Of one object in a fetch that could not leave out the blobs: somebody else's large file must not stop the build."""


class RemoteObjects:
    """Fetches commits and blobs into `folder`; a `BlobSource`."""

    def __init__(self, transport: Transport, folder: Path, object_format: ObjectFormat, *, limits: GitLimits) -> None:
        self._transport = transport
        self._address: RepoAddress = transport.address
        store = Store.init_at(folder / "objects", object_format)
        self.reader = ObjectReader(store, object_format, max_bytes=limits.file_bytes)
        self._limits = limits
        self._commit: str | None = None

    def fetch_commit(self, object_id: str, check: Callable[[Mapping[str, str]], None], names: list[str]) -> None:
        """Bring a commit (or a tag of one) with its trees: by id, then with all branches and tags, then with all refs.

        `check` gets those refs of `names` that exist, before anything is asked for.

        Raises:
            CommitNotServedError: The server answers, and has no ref that leads there.
            RepositoryUnreachableError: It does not answer properly.
            TrunchbuildError: What `check` raises.
        """
        reached = False

        def by_id(refs: Mapping[str, str]) -> list[str]:
            nonlocal reached
            check(refs)
            reached = True
            return [object_id]

        try:
            self._receive(by_id, prefixes=names, depth=1, without_blobs=True)
        except (RepositoryUnreachableError, CorruptRepositoryError):
            # A server may refuse ids that no ref shows, shallow requests, or both.
            if not reached:
                raise
        for prefixes in (["HEAD", "refs/heads/", "refs/tags/"], ["refs/"]):
            if self.reader.has(object_id):
                break
            self._receive(_all_tips, prefixes=prefixes, without_blobs=True)
        if not self.reader.has(object_id):
            raise CommitNotServedError(
                f"the server does not give the commit {object_id}: no branch and no tag leads to it",
                place=str(self._address),
                hint="the history was probably rewritten (force-push). Ask the owner to tag that commit; a release that"
                " was built from it still verifies from the store",
            )
        self._commit = object_id

    def fetch(self, wanted: Mapping[str, str]) -> None:
        """Bring blobs by id, at most 5,000 a request; where the server refuses, the commit with all its blobs.

        Raises:
            FileTooLargeError: One is over the limit.
            CommitNotServedError: The server does not give them.
            RepositoryUnreachableError: It does not answer properly.
        """
        missing = self._missing(wanted)
        refusal: TrunchbuildError | None = None
        try:
            for start in range(0, len(missing), WANTS_PER_REQUEST):
                self._fetch_batch(missing[start : start + WANTS_PER_REQUEST], wanted)
        except (RepositoryUnreachableError, CorruptRepositoryError) as error:
            refusal = error
        if self._missing(wanted):
            refusal = self._fetch_whole() or refusal
        if left := self._missing(wanted):
            raise CommitNotServedError(
                "the server gives the commit and not the file's content",
                place=wanted[left[0]],
                got=str(refusal) if refusal else None,
                hint="clone the repository with git, and give the clone's path",
            )

    def close(self) -> None:
        """Close the packs."""
        self.reader.close()

    def _fetch_batch(self, batch: list[str], wanted: Mapping[str, str]) -> None:
        """One request; where it brings too large a file, halves of it, until the file has a name."""
        try:
            self._receive(_these(batch), prefixes=["refs/none/"], limit=self.reader.max_bytes)
        except FileTooLargeError as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                self._fetch_batch(batch[:middle], wanted)
                self._fetch_batch(batch[middle:], wanted)
                return
            fault = error.faults[0]
            raise FileTooLargeError(
                "the file is too large",
                place=wanted[batch[0]],
                expected=fault.expected,
                got=fault.got,
                hint=fault.hint,
            ) from error

    def _fetch_whole(self) -> TrunchbuildError | None:
        """The commit with its blobs, shallow if the server allows it; what went wrong last."""
        commit = self._commit
        assert commit is not None
        failure: TrunchbuildError | None = None
        plans: tuple[tuple[Callable[[Mapping[str, str]], list[str]], list[str], int | None], ...] = (
            (_these([commit]), ["refs/none/"], 1),
            (_all_tips, ["HEAD", "refs/heads/", "refs/tags/"], None),
        )
        for wants, prefixes, depth in plans:
            try:
                self._receive(wants, prefixes=prefixes, depth=depth)
            except (RepositoryUnreachableError, CorruptRepositoryError) as error:
                failure = error
            else:
                return None
        return failure

    def _missing(self, wanted: Mapping[str, str]) -> list[str]:
        return self.reader.absent(wanted)

    def _receive(
        self,
        wants: Callable[[Mapping[str, str]], list[str]],
        *,
        prefixes: list[str],
        depth: int | None = None,
        without_blobs: bool = False,
        limit: int = _MAX_OBJECT_BYTES,
    ) -> None:
        """One fetch into the store; nothing of a pack that fails stays."""
        place = str(self._address)
        try:
            file, commit, abort = self.reader.store.add_pack()
        except OSError as error:
            raise MachineError(
                f"cannot write a temporary file ({error.strerror})", place=str(error.filename)
            ) from error
        count = 0

        def write(data: bytes) -> int:
            nonlocal count
            count += len(data)
            if count > self._limits.pack_bytes:
                raise PackTooLargeError(
                    "the server sends too much", place=place, expected=f"at most {self._limits.pack_bytes:,} bytes"
                )
            return file.write(data)

        try:
            self._transport.fetch(wants, write, prefixes=prefixes, depth=depth, without_blobs=without_blobs)
            file.flush()
            if count:
                scan_pack(file.fileno(), limit=limit, id_bytes=self.reader.store.object_format.oid_length, place=place)
        except BaseException:
            abort()
            raise
        try:
            commit()
        except OSError as error:
            raise MachineError(
                f"cannot write a temporary file ({error.strerror})", place=str(error.filename)
            ) from error
        # dulwich tells a bad pack by nearly any exception: BufferError, AssertionError, zlib.error ...
        except Exception as error:
            release_buffers(error)
            raise CorruptRepositoryError(
                f"the server sent a damaged pack ({type(error).__name__})", place=place
            ) from error
        finally:
            if isinstance(file, io.IOBase) and not file.closed:
                file.close()


def _these(ids: list[str]) -> Callable[[Mapping[str, str]], list[str]]:
    return lambda _refs: ids


def _all_tips(refs: Mapping[str, str]) -> list[str]:
    return sorted(set(refs.values()))
