"""Talking to a Git server: dulwich's clients with limits, and every failure told as one of ours."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import urllib3
from dulwich.client import SSHGitClient, SubprocessSSHVendor, Urllib3HttpGitClient, default_urllib3_manager

from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git.api import RepositoryUnreachableError, UnsupportedRepositoryError
from trunchbuild.errors import TrunchbuildError

if TYPE_CHECKING:
    from dulwich.client import FetchPackResult, GitClient
    from dulwich.objects import ObjectID
    from dulwich.refs import Ref

# What dulwich warns of (a server without filters) is handled here; without a handler Python prints it.
logging.getLogger("dulwich").addHandler(logging.NullHandler())

CONNECT_SECONDS = 30.0
READ_SECONDS = 300.0
"""A server may take minutes to count objects before it sends the first byte."""
MAX_PACK_BYTES = 2 << 30
"""What one answer may hold; a hostile server never ends."""


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

    def __init__(self, address: RepoAddress, *, insecure_http: bool, ssh_command: str | None) -> None:
        self.address = address
        self._client = _client(address, insecure_http=insecure_http, ssh_command=ssh_command)
        self._path = "" if isinstance(self._client, Urllib3HttpGitClient) else address.path

    def refs(self, prefixes: list[str]) -> tuple[dict[str, str], str | None, str]:
        """Refs under the prefixes (name -> id), the ref that HEAD points to, and the object format.

        Raises:
            RepositoryUnreachableError: There was no proper answer.
        """
        try:
            result = self._client.get_refs(
                self._path.encode() if not isinstance(self._client, Urllib3HttpGitClient) else self._path,  # type: ignore[arg-type]
                ref_prefix=[prefix.encode() for prefix in prefixes],
            )
        except Exception as error:
            raise self._told(error) from error
        self._refuse_dumb()
        refs = {_text(name): value.decode() for name, value in result.refs.items() if value is not None}
        head = result.symrefs.get(_ref(b"HEAD"))
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
            named = {_text(name): value.decode() for name, value in refs.items()}
            return [_id(each) for each in wants(named)]

        try:
            self._fetch(determine, write, prefixes, depth, b"blob:none" if without_blobs else None)
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
            self._path,
            determine,
            NoHaves(),
            write,
            depth=depth,
            ref_prefix=[prefix.encode() for prefix in prefixes],
            filter_spec=filter_spec,
        )

    def _refuse_dumb(self) -> None:
        if isinstance(self._client, Urllib3HttpGitClient) and self._client.dumb:
            raise UnsupportedRepositoryError(
                "the server speaks no Git protocol (plain files at best)",
                place=str(self.address),
                hint="clone it with git, and give the clone's path",
            )

    def _told(self, error: Exception) -> TrunchbuildError:
        """A library's exception as one error of ours, without user info."""
        from dulwich.client import HTTPUnauthorized  # noqa: PLC0415
        from dulwich.errors import NotGitRepository  # noqa: PLC0415

        if isinstance(error, TrunchbuildError):
            return error
        place = str(self.address)
        if isinstance(error, HTTPUnauthorized):
            return RepositoryUnreachableError(
                "the server wants a login",
                place=place,
                hint="use ssh, or https://USER:TOKEN@HOST/PATH (it is not recorded), or a local clone",
            )
        if isinstance(error, NotGitRepository):
            return RepositoryUnreachableError("the server knows no such repository", place=place)
        reason = self.address.scrub(_reason(error)) or type(error).__name__
        return RepositoryUnreachableError("the server gave no proper answer", place=place, got=reason[:300])


def _reason(error: BaseException) -> str:
    """What went wrong at the bottom, without the object addresses that urllib3 prints."""
    cause = error.__cause__
    inner = getattr(cause, "reason", None) if cause is not None else None
    text = str(inner) if isinstance(inner, Exception) else str(error)
    return re.sub(r"<[\w. ]+ object at 0x[0-9a-f]+>: |^HTTPS?Connection(?:Pool)?\([^)]*\): ", "", text)


def _client(address: RepoAddress, *, insecure_http: bool, ssh_command: str | None) -> GitClient:
    if address.kind == "ssh":
        assert address.host is not None
        return SSHGitClient(
            address.host.strip("[]"),
            port=address.port,
            username=address.login.user if address.login else None,
            vendor=SubprocessSSHVendor(),
            ssh_command=ssh_command,
            thin_packs=False,
        )
    assert address.url is not None
    return Urllib3HttpGitClient(
        address.url,
        pool_manager=_pool(address, insecure_http=insecure_http),
        username=address.login.user if address.login else None,
        password=address.login.password if address.login else None,
        thin_packs=False,
    )


def _pool(address: RepoAddress, *, insecure_http: bool) -> urllib3.PoolManager:
    """A connection pool that follows no redirect to where the address itself would be refused."""

    def check(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme == "https":
            return
        hop = RepoAddress.parse(f"{parts.scheme}://{parts.netloc}/x")
        if address.kind != "http":
            raise RepositoryUnreachableError(
                "the server redirects from https to http", place=str(address), got=str(hop)
            )
        hop.require_allowed(insecure_http=insecure_http)

    class Pool(urllib3.PoolManager):
        def urlopen(self, method: str, url: str, redirect: bool = True, **rest: object) -> urllib3.BaseHTTPResponse:  # type: ignore[override]
            check(url)
            return super().urlopen(method, url, redirect=redirect, **rest)

    class ProxyPool(urllib3.ProxyManager):
        def urlopen(self, method: str, url: str, redirect: bool = True, **rest: object) -> urllib3.BaseHTTPResponse:  # type: ignore[override]
            check(url)
            return super().urlopen(method, url, redirect=redirect, **rest)

    timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
    if address.is_loopback:
        return Pool(timeout=timeout, headers={"User-agent": "git/trunchbuild"})
    # Proxies of the environment count, as for every Git client; certificates are always verified.
    pool = default_urllib3_manager(None, Pool, ProxyPool, base_url=address.url, timeout=timeout)  # type: ignore[arg-type]
    assert isinstance(pool, urllib3.PoolManager)
    return pool


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _id(text: str) -> ObjectID:
    from dulwich.objects import ObjectID  # noqa: PLC0415

    return ObjectID(text.encode())


def _ref(name: bytes) -> Ref:
    from dulwich.refs import Ref  # noqa: PLC0415

    return Ref(name)
