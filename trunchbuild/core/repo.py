"""Where a benchmark repository is: `REPO@REV` as typed, parsed before anything is opened.

Schemes are an allow-list: Git libraries take `ext::`, `ftp://` and `host:path` for transports, some of which run
commands.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, quote, unquote, urlsplit

from trunchbuild.errors import UsageError

RepoKind = Literal["local", "file", "https", "http", "ssh", "github"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_TRANSPORT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\.?\Z|\[[0-9A-Fa-f:.]+\]\Z")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*\Z")
_GITHUB = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))/([A-Za-z0-9._-]{1,100})\Z")

_UNPRINTED = re.compile("[\x00-\x1f\x7f-\x9f]")
_LOGIN_IN_PATH = re.compile(r":.*@")
_SURROGATE = re.compile("[\ud800-\udfff]")

_SHORTEST_SECRET = 4

_FORMS = "a local path, file://, https://, ssh://, git@HOST:PATH or github:OWNER/NAME"


@dataclass(frozen=True, slots=True)
class Login:
    """User info of an address; used to connect, never recorded and never printed."""

    user: str
    password: str | None


@dataclass(frozen=True, slots=True)
class RepoAddress:
    """One repository. `str()` of it and `url` never hold user info."""

    kind: RepoKind
    path: str
    """A local path; for a remote repository the path on its host, decoded."""
    host: str | None = None
    port: int | None = None
    url: str | None = None
    """What is recorded; None for a local repository, whose path is a fact of one machine."""
    login: Login | None = field(default=None, repr=False)

    @property
    def is_local(self) -> bool:
        """Whether the repository is opened in place."""
        return self.kind in {"local", "file"}

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine, so that plain http reveals nothing."""
        host = (self.host or "").strip("[]").rstrip(".").lower()
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        """For people: the url without user info, or the local path."""
        return self.url or self.path

    @classmethod
    def parse(cls, text: str) -> RepoAddress:
        """Read REPO: the scheme first, against the list of allowed ones.

        Raises:
            UsageError: The form is not one of those listed; says which are. The message holds no user info.
        """
        if not text:
            raise UsageError("no repository", expected=_FORMS, got="an empty text")
        if _UNPRINTED.search(text):
            raise UsageError("a control character in the repository's address", got=_shown(text))
        if scheme := _SCHEME.match(text):
            return _parse_url(scheme.group(1).lower(), text)
        if text.startswith("github:"):
            return _parse_github(text.removeprefix("github:"))
        if transport := _TRANSPORT.match(text):
            raise UsageError(
                f"the transport `{transport.group(0)}` is refused: it runs a command", expected=_FORMS, got=_shown(text)
            )
        head, colon, path = text.partition(":")
        if colon and "/" not in head:
            return _parse_scp(head, path, text)
        return cls("local", text)

    def scrub(self, message: str) -> str:
        """The message of a library without this address' user info, in plain and in percent-encoded form."""
        if self.login is None:
            return message
        secret = self.login.password or self.login.user
        for form in dict.fromkeys((secret, quote(secret, safe=""))):
            message = message.replace(f"{self.login.user}:{form}@", "").replace(f"{form}@", "")
            # Shorter ones would blot out parts of words.
            if len(form) >= _SHORTEST_SECRET and self.kind != "ssh":
                message = message.replace(form, "***")
        return message

    def require_allowed(self, *, insecure_http: bool) -> None:
        """Refuse plain http to another machine: anyone between could answer for it.

        Raises:
            UsageError: The kind is `http`, the host is not this machine and `insecure_http` is false.
        """
        if self.kind == "http" and not insecure_http and not self.is_loopback:
            raise UsageError(
                f"plain http to `{self.host}` is refused",
                hint=f"use https, or say --insecure-http if you trust the network to {self.host}",
            )


def recorded_url(text: str) -> str:
    """The url of a repository as lockfiles state it: of a server, without user info.

    Raises:
        UsageError: The address is refused, or it is one of this machine.
    """
    address = RepoAddress.parse(text)
    if address.url is None:
        raise UsageError("not the address of a server", expected="https://, ssh:// or github:", got=_shown(text))
    return address.url


def parse_target(text: str) -> tuple[RepoAddress, str | None]:
    """Divide `REPO@REV` at the last `@` that can divide it, and parse REPO.

    The `@` of user info (`https://user@host/...`, `git@host:path`) never divides. A path that holds an `@` needs a REV
    behind it: `./my@bench@HEAD`.

    Raises:
        UsageError: REPO is refused, or REV is empty.
    """
    start = _path_start(text)
    at = text.rfind("@", start)
    if at < 0:
        return RepoAddress.parse(text), None
    repository, revision = text[:at], text[at + 1 :]
    if not revision:
        raise UsageError("no revision behind the `@`", expected="REPO@REV", got=f"{_shown(repository)}@")
    return RepoAddress.parse(repository), revision


def _path_start(text: str) -> int:
    """Where the path of a repository address begins; before it an `@` belongs to the user info."""
    if scheme := _SCHEME.match(text):
        slash = text.find("/", scheme.end())
        return slash if slash >= 0 else len(text)
    colon, slash = text.find(":"), text.find("/")
    if colon >= 0 and (slash < 0 or colon < slash) and not text.startswith("github:"):
        at = text.find("@")
        return colon if 0 <= at < colon else 0
    return 0


def _parse_url(scheme: str, text: str) -> RepoAddress:
    if scheme not in {"file", "https", "http", "ssh"}:
        raise UsageError(f"the scheme `{scheme}://` is refused", expected=_FORMS, got=_shown(text))
    if "?" in text or "#" in text:
        raise UsageError(
            "a query or a fragment in the repository's address", got=_shown(re.split(r"[?#]", text, maxsplit=1)[0])
        )
    _require_unicode(text)
    if any(c.isspace() or c == "\\" for c in text):
        raise UsageError("a space or backslash in the repository's address", hint="write it as %20 or %5C")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UsageError("not a repository address", got=_shown(text)) from error
    path = unquote(parts.path)
    if _UNPRINTED.search(path):
        raise UsageError("a control character in the repository's address", got=_shown(text))
    return _file_address(parts, path, text) if scheme == "file" else _server_address(parts, port, path, text)


def _file_address(parts: SplitResult, path: str, text: str) -> RepoAddress:
    if parts.netloc not in {"", "localhost"}:
        raise UsageError("a host in a file:// address", expected="file:///PATH", got=_shown(text))
    return RepoAddress("file", path)


def _server_address(parts: SplitResult, port: int | None, path: str, text: str) -> RepoAddress:
    scheme = parts.scheme
    if _LOGIN_IN_PATH.search(path):
        raise UsageError("`:` and `@` in the path of a url", hint="write a `/` in a password as %2F")
    user_info, _, host = parts.netloc.rpartition("@")
    host = host.rsplit(":", 1)[0] if port is not None else host.removesuffix(":")
    if not _HOST.match(host):
        raise UsageError("not a host name", expected=f"{scheme}://HOST/PATH", got=_shown(text))
    if path.strip("/") == "":
        raise UsageError("no path behind the host", expected=f"{scheme}://{host}/PATH", got=_shown(text))
    where = f"{host.lower()}:{port}" if port is not None else host.lower()
    kind: RepoKind = "https" if scheme == "https" else "http" if scheme == "http" else "ssh"
    url = f"{scheme}://{where}{parts.path.rstrip('/')}"
    return RepoAddress(kind, path, host.lower(), port, url, _login(user_info, scheme))


def _login(user_info: str, scheme: str) -> Login | None:
    if not user_info:
        return None
    user, colon, password = user_info.partition(":")
    login = Login(unquote(user), unquote(password) if colon else None)
    if scheme == "ssh":
        if login.password is not None:
            raise UsageError("a password in an ssh address is refused", hint="use a key or an agent")
        if not _USER.match(login.user):
            raise UsageError("not a user name in the ssh address")
    return login


def _parse_scp(head: str, path: str, text: str) -> RepoAddress:
    user, at, host = head.rpartition("@")
    if not at:
        raise UsageError(
            "this could be a path or a host",
            expected=_FORMS,
            got=_shown(text),
            hint="write ./NAME for a local path that holds a colon, ssh://HOST/PATH for a host",
        )
    if not _USER.match(user) or not _HOST.match(host):
        raise UsageError("not a user and host", expected="git@HOST:PATH", got=_shown(text))
    if not path or path.startswith("-"):
        raise UsageError("no path behind the host", expected=f"{user}@{host}:PATH", got=_shown(text))
    _require_unicode(text)
    if _LOGIN_IN_PATH.search(path):
        raise UsageError("`:` and `@` in the path on a host", got=_shown(text))
    # A path without a leading slash starts at the user's home; `/~/` says so in a url.
    below = path if path.startswith("/") else f"/{path}" if path.startswith("~") else f"/~/{path}"
    url = f"ssh://{host.lower()}{quote(below.rstrip('/'), safe='/~@')}"
    return RepoAddress("ssh", below, host.lower(), None, url, Login(user, None))


def _require_unicode(text: str) -> None:
    """A name of bytes that are not UTF-8 may be a local path; no url can state it."""
    if _SURROGATE.search(text):
        raise UsageError("not Unicode in the repository's address", got=_shown(text))


def _parse_github(name: str) -> RepoAddress:
    found = _GITHUB.match(name)
    if not found or found.group(2) in {".", ".."}:
        raise UsageError("not a GitHub repository", expected="github:OWNER/NAME", got=_shown(f"github:{name}"))
    path = f"/{found.group(1)}/{found.group(2).removesuffix('.git')}.git"
    return RepoAddress("github", path, "github.com", None, f"https://github.com{path}")


def _shown(text: str) -> str:
    """The text for a message: nothing that could be user info (even malformed), no unprintable character."""
    scheme, divider, rest = text.rpartition("://") if "://" in text else ("", "", text)
    return repr(scheme + divider + rest.rpartition("@")[2])[1:-1]
