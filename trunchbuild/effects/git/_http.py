"""dulwich's client for HTTP, made to end what it began and to go nowhere else."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import urllib3
from dulwich.client import Urllib3HttpGitClient, default_urllib3_manager
from urllib3.connection import HTTPConnection, HTTPSConnection

from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git._meter import Meter
from trunchbuild.effects.git.api import RepositoryUnreachableError

if TYPE_CHECKING:
    from dulwich.client import HTTPResponse


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

    def __init__(self, address: RepoAddress, *, insecure_http: bool, meter: Meter) -> None:
        assert address.url is not None
        login = address.login
        self._meter = meter
        self._guarded = _pool(address, insecure_http=insecure_http, meter=meter)
        self._wires = _Wires()
        self._guarded.pool_classes_by_scheme = _pool_classes(self._wires.add)
        self._asked_for_refs = False
        super().__init__(
            address.url,
            pool_manager=self._guarded,
            username=login.user if login else None,
            password=login.password if login else None,
            thin_packs=False,
        )
        # Objects come from the repository's own server, not from wherever it says.
        self._fetch_capabilities.discard(b"packfile-uris")

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[HTTPResponse, Callable[[int], bytes]]:
        """Send one request. dulwich would also get packs from any host that a server's answer names.

        Raises:
            RepositoryUnreachableError: A second address is to be read in one talk.
        """
        if data is None:
            if self._asked_for_refs:
                raise RepositoryUnreachableError(
                    "the server sends us elsewhere for the objects", place=self._base_url, got=url[:200]
                )
            self._asked_for_refs = True
        answer, read = super()._http_request(url, headers, data, raise_for_status)

        def counted(size: int) -> bytes:
            chunk = read(size)
            self._meter.count(len(chunk))
            return chunk

        return answer, counted

    @contextmanager
    def talk(self) -> Iterator[None]:
        """One request and its whole answer; what still runs when its time is over is cut off.

        A read has an end of its own, which a server moves on with a byte now and then.

        Raises:
            RepositoryUnreachableError: The time is over.
        """
        self._asked_for_refs = False
        timer = threading.Timer(self._meter.seconds_left, self._wires.cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        except Exception as error:
            if self._wires.are_cut:
                raise self._over() from error
            raise
        else:
            if self._wires.are_cut:
                raise self._over()
        finally:
            timer.cancel()
            timer.join()
            self._end()

    def _over(self) -> RepositoryUnreachableError:
        """What was read of a cut answer is no answer, whatever it looks like."""
        place = self._base_url.rstrip("/")
        return RepositoryUnreachableError("the server gave no proper answer", place=place, got=str(self._meter.over()))

    def _end(self) -> None:
        while self._guarded.answers:
            self._guarded.answers.pop().close()
        self._guarded.clear()
        self._wires.close()


class _Wires:
    """Second handles of the connections of one talk: from another thread the only safe ones to cut them by."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handles: list[socket.socket] = []
        self.are_cut = False

    def add(self, connected: socket.socket) -> None:
        with self._lock:
            if self.are_cut:
                # urllib3 tries again what was cut.
                raise OSError("the time is over")
            self._handles.append(connected.dup())

    def cut(self) -> None:
        with self._lock:
            self.are_cut = True
            for handle in self._handles:
                with suppress(OSError):
                    handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            while self._handles:
                self._handles.pop().close()


def _pool_classes(note: Callable[[socket.socket], None]) -> dict[str, type[urllib3.HTTPConnectionPool]]:
    """urllib3's connections that tell of each socket before anything is said on it."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return _noted(super()._new_conn(), note)

    class Tls(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return _noted(super()._new_conn(), note)

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Tls

    return {"http": PlainPool, "https": TlsPool}


def _noted(connected: socket.socket, note: Callable[[socket.socket], None]) -> socket.socket:
    try:
        note(connected)
    except OSError:
        connected.close()
        raise
    return connected


def _pool(address: RepoAddress, *, insecure_http: bool, meter: Meter) -> _Pool:
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

    timeout = urllib3.Timeout(connect=meter.limits.connect_seconds, read=meter.limits.idle_seconds)
    pool: object
    if address.is_loopback:
        pool = _Pool(timeout=timeout, headers={"User-agent": "git/trunchbuild"})
    else:
        # Proxies of the environment count, as for every Git client; certificates are always verified.
        pool = default_urllib3_manager(None, _Pool, _ProxyPool, base_url=address.url, timeout=timeout)  # type: ignore[arg-type]
    assert isinstance(pool, _Pool)
    # A server that was silent for minutes is not asked again.
    pool.connection_pool_kw["retries"] = urllib3.Retry(3, read=0)
    pool.check, pool.answers = check, []
    return pool
