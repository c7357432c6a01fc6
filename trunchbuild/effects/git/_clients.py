"""dulwich's clients for HTTP and ssh, made to end what they began and to go nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

import urllib3
from dulwich.client import SSHGitClient, SubprocessSSHVendor, Urllib3HttpGitClient, default_urllib3_manager
from dulwich.errors import GitProtocolError

from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git.api import RepositoryUnreachableError

if TYPE_CHECKING:
    from dulwich.client import HTTPResponse
    from dulwich.protocol import Protocol

CONNECT_SECONDS = 30.0
READ_SECONDS = 300.0
"""A server may take minutes to count objects before it sends the first byte."""


class _Pool(urllib3.PoolManager):
    """Checks each hop of a redirect before going there, and remembers answers that nobody may have read to the end."""

    check: Callable[[str], None]
    answers: list[urllib3.BaseHTTPResponse]

    def urlopen(  # type: ignore[override]
        self, method: str, url: str, redirect: bool = True, **rest: object
    ) -> urllib3.BaseHTTPResponse:
        """Send one request; called again by urllib3 for each redirect."""
        self.check(url)
        answer = super().urlopen(method, url, redirect=redirect, **rest)
        self.answers.append(answer)
        return answer


class _ProxyPool(_Pool, urllib3.ProxyManager):
    """The same through a proxy."""


class HttpClient(Urllib3HttpGitClient):
    """Smart HTTP to one repository."""

    def __init__(self, address: RepoAddress, *, insecure_http: bool, refs_bytes: int) -> None:
        assert address.url is not None
        self._refs_bytes = refs_bytes
        login = address.login
        self._guarded = _pool(address, insecure_http=insecure_http)
        super().__init__(
            address.url,
            pool_manager=self._guarded,
            username=login.user if login else None,
            password=login.password if login else None,
            thin_packs=False,
        )

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[HTTPResponse, Callable[[int], bytes]]:
        """Send one request; a list of refs is held in memory whole, so it must end somewhere."""
        answer, read = super()._http_request(url, headers, data, raise_for_status)
        if data is not None and not (isinstance(data, bytes) and b"command=ls-refs" in data[:64]):
            return answer, read
        left = self._refs_bytes

        def counted(size: int) -> bytes:
            nonlocal left
            chunk = read(size)
            left -= len(chunk)
            if left < 0:
                raise GitProtocolError(f"a list of refs longer than {self._refs_bytes:,} bytes")
            return chunk

        return answer, counted

    def end(self) -> None:
        """Close all connections."""
        while self._guarded.answers:
            self._guarded.answers.pop().close()
        self._guarded.clear()


class SshClient(SSHGitClient):
    """One repository through `ssh`."""

    def __init__(self, address: RepoAddress, *, ssh_command: str | None) -> None:
        assert address.host is not None
        self._opened: list[Protocol] = []
        super().__init__(
            address.host.strip("[]"),
            port=address.port,
            username=address.login.user if address.login else None,
            vendor=SubprocessSSHVendor(),
            ssh_command=ssh_command,
            thin_packs=False,
        )

    def _connect(
        self, cmd: bytes, path: str | bytes, protocol_version: int | None = None
    ) -> tuple[Protocol, Callable[[], bool], IO[bytes] | None]:
        """Start `ssh`, and remember it: dulwich leaves it running where an answer makes no sense."""
        connected = super()._connect(cmd, path, protocol_version)
        self._opened.append(connected[0])
        return connected

    def end(self) -> None:
        """End what still runs."""
        while self._opened:
            with suppress(OSError, ValueError, GitProtocolError):
                self._opened.pop().close()


def _pool(address: RepoAddress, *, insecure_http: bool) -> _Pool:
    """A connection pool that follows no redirect to where the address itself would be refused."""

    def check(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme == "https":
            return
        hop = RepoAddress.parse(f"{parts.scheme}://{parts.netloc}/x")
        if address.kind != "http":
            raise RepositoryUnreachableError(
                "the server redirects from https to http", place=str(address), got=f"http://{hop.host}"
            )
        hop.require_allowed(insecure_http=insecure_http)

    timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
    pool: object
    if address.is_loopback:
        pool = _Pool(timeout=timeout, headers={"User-agent": "git/trunchbuild"})
    else:
        # Proxies of the environment count, as for every Git client; certificates are always verified.
        pool = default_urllib3_manager(None, _Pool, _ProxyPool, base_url=address.url, timeout=timeout)  # type: ignore[arg-type]
    assert isinstance(pool, _Pool)
    pool.check, pool.answers = check, []
    return pool
