"""A throwaway object store that is filled from a server, with as little as will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.revision import ObjectFormat
from trunchbuild.effects.git._folders import Store
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._objects import ObjectReader
from trunchbuild.effects.git._received import ReceivedPack
from trunchbuild.effects.git._transport import PackTooLargeError, Transport
from trunchbuild.effects.git.api import CommitNotServedError, CorruptRepositoryError, RepositoryUnreachableError
from trunchbuild.errors import MachineError, TrunchbuildError

WANTS_PER_REQUEST = 5_000


class RemoteObjects:
    """Fetches commits and blobs into `folder`; a `BlobSource`."""

    def __init__(self, transport: Transport, folder: Path, object_format: ObjectFormat, *, limits: GitLimits) -> None:
        self._transport = transport
        self._address: RepoAddress = transport.address
        self._folder = folder
        self._packs = 0
        self.reader = ObjectReader(Store(folder, object_format), object_format, max_bytes=limits.file_bytes)
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
        fetched = {each: wanted[each] for each in missing}
        refusal: TrunchbuildError | None = None
        try:
            for start in range(0, len(missing), WANTS_PER_REQUEST):
                batch = missing[start : start + WANTS_PER_REQUEST]
                self._receive(_these(batch), prefixes=["refs/none/"])
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
        self.reader.require_readable(fetched)

    def close(self) -> None:
        """Close the packs."""
        self.reader.close()

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
    ) -> None:
        """One fetch into a file of its own; nothing of a pack that fails stays."""
        place = str(self._address)
        path = self._folder / f"{self._packs}.pack"
        self._packs += 1
        count = 0
        try:
            with path.open("wb") as file:

                def write(data: bytes) -> int:
                    nonlocal count
                    count += len(data)
                    if count > self._limits.pack_bytes:
                        raise PackTooLargeError(
                            "the server sends too much",
                            place=place,
                            expected=f"at most {self._limits.pack_bytes:,} bytes",
                        )
                    return _written(file, data)

                self._transport.fetch(wants, write, prefixes=prefixes, depth=depth, without_blobs=without_blobs)
            if count:
                made = self.reader.object_format
                self.reader.add(ReceivedPack(path, made, inflated=self._limits.inflated_bytes, place=place))
        except BaseException as error:
            path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise _not_written(error) from error
            raise


def _written(file: IO[bytes], data: bytes) -> int:
    try:
        return file.write(data)
    except OSError as error:
        raise _not_written(error) from error


def _not_written(error: OSError) -> MachineError:
    return MachineError(f"cannot write a temporary file ({error.strerror})", place=str(error.filename or ""))


def _these(ids: list[str]) -> Callable[[Mapping[str, str]], list[str]]:
    return lambda _refs: ids


def _all_tips(refs: Mapping[str, str]) -> list[str]:
    return sorted(set(refs.values()))
