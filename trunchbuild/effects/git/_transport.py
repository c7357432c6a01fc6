"""Talking to a Git server: dulwich's clients with limits, and every failure told as one of ours."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dulwich.client import HTTPUnauthorized
from dulwich.errors import NotGitRepository
from dulwich.objects import ObjectID
from dulwich.refs import Ref

from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git._http import HttpClient
from trunchbuild.effects.git._limits import GitLimits
from trunchbuild.effects.git._meter import Meter
from trunchbuild.effects.git._ssh import SshClient
from trunchbuild.effects.git.api import RepositoryUnreachableError, UnsupportedRepositoryError
from trunchbuild.errors import TrunchbuildError

if TYPE_CHECKING:
    from dulwich.client import FetchPackResult

# What dulwich warns of (a server without filters) is handled here; without a handler Python prints it.
logging.getLogger("dulwich").addHandler(logging.NullHandler())


_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")


class PackTooLargeError(UnsupportedRepositoryError):
    """A server sends more than one answer may hold."""

    slug = "pack-too-large"


class NoHaves:
    """A graph walker that has nothing, so that the server sends whole objects."""

    def __next__(self) -> ObjectID | None:
        return None

    def ack(self, _sha: ObjectID, /) -> None:
        """Nothing was offered."""

    def nak(self) -> None:
        """Nothing was offered."""


class Transport:
    """One server's repository; requests, no memory."""

    def __init__(
        self, address: RepoAddress, *, insecure_http: bool, ssh_command: str | None, limits: GitLimits
    ) -> None:
        self.address = address
        self._meter = Meter(limits)
        self._client: HttpClient | SshClient
        if address.kind == "ssh":
            self._client = SshClient(address, ssh_command=ssh_command, meter=self._meter)
        else:
            self._client = HttpClient(address, insecure_http=insecure_http, meter=self._meter)

    def refs(self, prefixes: list[str]) -> tuple[dict[str, str], str | None, str]:
        """Refs under the prefixes (name -> id), the ref that HEAD points to, and the object format.

        Raises:
            RepositoryUnreachableError: There was no proper answer.
        """
        self._meter.begin()
        try:
            wanted = [prefix.encode() for prefix in prefixes]
            with self._client.talk():
                if isinstance(self._client, SshClient):
                    result = self._client.get_refs(_sent_path(self.address.path).encode(), ref_prefix=wanted)
                else:
                    result = self._client.get_refs("", ref_prefix=wanted)
        except Exception as error:
            raise self._told(error) from error
        self._refuse_dumb()
        refs = self._named(result.refs)
        head = result.symrefs.get(Ref(b"HEAD"))
        return (
            {name: value for name, value in refs.items() if not name.endswith("^{}")},
            _text(head) if head else None,
            result.object_format or "sha1",
        )

    def fetch(
        self,
        wants: Callable[[Mapping[str, str]], list[str]],
        write: Callable[[bytes], int],
        *,
        prefixes: list[str],
        depth: int | None = None,
        without_blobs: bool = False,
    ) -> None:
        """Ask for objects; `wants` gets the refs under the prefixes and says which ids, `write` gets the pack.

        Raises:
            RepositoryUnreachableError: There was no proper answer.
            TrunchbuildError: What `wants` or `write` raise.
        """

        def determine(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:  # noqa: ARG001
            self._refuse_dumb()
            return [ObjectID(each.encode()) for each in wants(self._named(refs))]

        def keep(data: bytes) -> int:
            self._meter.got_object()
            return write(data)

        self._meter.begin()
        try:
            with self._client.talk():
                self._fetch(determine, keep, prefixes, depth, b"blob:none" if without_blobs else None)
        except Exception as error:
            raise self._told(error) from error

    def _fetch(
        self,
        determine: Callable[..., list[ObjectID]],
        write: Callable[[bytes], int],
        prefixes: list[str],
        depth: int | None,
        filter_spec: bytes | None,
    ) -> FetchPackResult:
        return self._client.fetch_pack(
            _sent_path(self.address.path) if isinstance(self._client, SshClient) else "",
            determine,
            NoHaves(),
            write,
            depth=depth,
            ref_prefix=[prefix.encode() for prefix in prefixes],
            filter_spec=filter_spec,
        )

    def _named(self, refs: Mapping[Ref, ObjectID | None]) -> dict[str, str]:
        """Ref name -> id; dulwich takes any word of a server's for an id."""
        named = {_text(name): _text(value) for name, value in refs.items() if value is not None}
        for name, value in named.items():
            if not _ID.match(value):
                raise RepositoryUnreachableError(
                    "the server gave no proper answer",
                    place=str(self.address),
                    expected=f"an object id for `{name[:100]}`",
                    got=repr(value[:100]),
                )
        return named

    def _refuse_dumb(self) -> None:
        if isinstance(self._client, HttpClient) and self._client.dumb:
            raise _no_git_protocol(str(self.address))

    def _told(self, error: Exception) -> TrunchbuildError:
        """A library's exception as one error of ours, without user info."""
        if isinstance(error, TrunchbuildError):
            return error
        place = str(self.address)
        if isinstance(self._client, HttpClient) and self._client.dumb:
            return _no_git_protocol(place)
        if isinstance(error, HTTPUnauthorized):
            return RepositoryUnreachableError(
                "the server wants a login",
                place=place,
                hint="use ssh, or https://USER:TOKEN@HOST/PATH (it is not recorded), or a local clone",
            )
        if isinstance(error, NotGitRepository):
            return RepositoryUnreachableError("the server knows no such repository", place=place)
        reason = self.address.scrub(_reason(error)) or type(error).__name__
        hint = None
        if self.address.kind == "ssh":
            hint = (
                f"`ssh {self.address.host}` must log in; a recorded url has no user: git@{self.address.host}:PATH has"
            )
        return RepositoryUnreachableError("the server gave no proper answer", place=place, got=reason[:300], hint=hint)


def _sent_path(path: str) -> str:
    """The path as Git sends it over ssh: one below the user's home (`/~/...` in a url) is relative, as it was typed.

    Servers such as GitHub's know `owner/name.git` and nothing of `~`.
    """
    below_home = path.removeprefix("/~/")
    if below_home == path:
        return path
    return f"./{below_home}" if below_home.startswith("-") else below_home


def _no_git_protocol(place: str) -> UnsupportedRepositoryError:
    return UnsupportedRepositoryError(
        "the server speaks no Git protocol (plain files at best)",
        place=place,
        hint="check the address; or clone it with git, and give the clone's path",
    )


def _reason(error: BaseException) -> str:
    """What went wrong at the bottom, without the object addresses that urllib3 prints."""
    cause = error.__cause__
    inner = getattr(cause, "reason", None) if cause is not None else None
    text = str(inner) if isinstance(inner, Exception) else str(error)
    return re.sub(r"<[\w. ]+ object at 0x[0-9a-f]+>: |^HTTPS?Connection(?:Pool)?\([^)]*\): ", "", text)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
