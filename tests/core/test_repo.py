"""`REPO@REV`: what is accepted, what is refused, and that user info is never shown.

Expected divisions come from the forms that `man gitrevisions` and `man git-clone` (GIT URLS) describe.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.repo import RepoAddress, parse_target, recorded_url
from trunchbuild.errors import ExitCode, UsageError

HEX40 = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "kind", "path", "url", "revision"),
    [
        (".@main", "local", ".", None, "main"),
        ("/srv/bench@v1.0", "local", "/srv/bench", None, "v1.0"),
        ("./odd:name@main", "local", "./odd:name", None, "main"),
        ("./my@bench@feature/x", "local", "./my@bench", None, "feature/x"),
        ("bench", "local", "bench", None, None),
        ("file:///srv/a%20b@main", "file", "/srv/a b", None, "main"),
        ("file://localhost/srv/x@main", "file", "/srv/x", None, "main"),
        (f"https://host/o/n.git@{HEX40}", "https", "/o/n.git", "https://host/o/n.git", HEX40),
        ("https://HOST:8443/o/n/@main", "https", "/o/n/", "https://host:8443/o/n", "main"),
        ("https://user:tok@host/o/n", "https", "/o/n", "https://host/o/n", None),
        ("https://user@host/o/n@v1", "https", "/o/n", "https://host/o/n", "v1"),
        ("https://host/@scope/n@v1", "https", "/@scope/n", "https://host/@scope/n", "v1"),
        ("http://127.0.0.1:8000/n@main", "http", "/n", "http://127.0.0.1:8000/n", "main"),
        ("http://[::1]:8000/n@main", "http", "/n", "http://[::1]:8000/n", "main"),
        ("ssh://git@host:2222/o/n.git@main", "ssh", "/o/n.git", "ssh://host:2222/o/n.git", "main"),
        ("git@host:o/n.git", "ssh", "/~/o/n.git", "ssh://host/~/o/n.git", None),
        ("git@host:o/n.git@main", "ssh", "/~/o/n.git", "ssh://host/~/o/n.git", "main"),
        ("git@host:/srv/n.git@main", "ssh", "/srv/n.git", "ssh://host/srv/n.git", "main"),
        ("git@host:a b%20c@x@main", "ssh", "/~/a b%20c@x", "ssh://host/~/a%20b%2520c@x", "main"),
        ("git@host:~me/n/", "ssh", "/~me/n/", "ssh://host/~me/n", None),
        ("github:owner/name@v2", "github", "/owner/name.git", "https://github.com/owner/name.git", "v2"),
        ("github:owner/name.git", "github", "/owner/name.git", "https://github.com/owner/name.git", None),
    ],
)
def test_accepted_forms(text: str, kind: str, path: str, url: str | None, revision: str | None) -> None:
    address, found = parse_target(text)
    assert (address.kind, address.path, address.url, found) == (kind, path, url, revision)
    if url is None:
        with pytest.raises(UsageError, match="server"):
            recorded_url(str(address))
    else:
        # What a lock records leads to the same place.
        again = RepoAddress.parse(url)
        assert (again.host, again.port, again.path, again.url) == (address.host, address.port, path.rstrip("/"), url)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ext::sh -c 'touch /tmp/x'@main", "ext::"),
        ("fd::17@main", "fd::"),
        ("ftp://host/x@main", "ftp://"),
        ("git://host/x@main", "git://"),
        ("rsync://host/x@main", "rsync://"),
        ("javascript://host/x@main", "javascript://"),
        ("host:path@main", "path or a host"),
        ("C:\\bench@main", "path or a host"),
        ("-oProxyCommand=x:y@main", "path or a host"),
        ("git@-oProxyCommand=x:y@main", "user and host"),
        ("ssh://-oProxyCommand=x/y@main", "host name"),
        ("ssh://git:secret@host/y@main", "password"),
        ("ssh://-l@host/y@main", "user name"),
        ("git@host:@main", "no path"),
        ("git@host:-x@main", "no path"),
        ("git@host:a:b@c@main", "`:` and `@`"),
        ("git@host:\udcff@main", "not Unicode"),
        ("https://host/\udcff@main", "not Unicode"),
        ("https://host/\x9b31m@main", "control character"),
        ("https://host/%C2%9B@main", "control character"),
        ("https://host@main", "no path"),
        ("https://host/@main", "no path"),
        ("https:///x@main", "host name"),
        ("https://host:port/x@main", "address"),
        ("https://ho st/x@main", "space"),
        ("https://host/x?token=1@main", "query"),
        ("https://host/x#y@main", "fragment"),
        ("https://host/x%0Ay@main", "control character"),
        ("file://other/x@main", "host in a file"),
        ("bad\x1bname@main", "control character"),
        ("github:owner@main", "GitHub"),
        ("github:owner/name/more@main", "GitHub"),
        ("github:../name@main", "GitHub"),
        ("github:owner/..@main", "GitHub"),
        ("@main", "no repository"),
        ("", "no repository"),
        ("bench@", "no revision behind"),
    ],
)
def test_refused_forms(text: str, word: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(text)
    assert word in str(caught.value)
    assert caught.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    "text",
    [
        "https://user:hunter22@host:port/x@main",
        "https://user:hunter22@host/x?y@main",
        "https://us/er:hunter22@host/x@main",
        "https://user:hunter22@ho st/x@main",
        "ftp://user:hunter22@host/x@main",
        "ssh://user:hunter22@host/x@main",
        "user:hunter22@host:x@main",
        "github:user:hunter22@owner/name@main",
        "ext::user:hunter22@host@main",
        "https://user:hunter22@host/x@",
        "https://user:hunter22@host/x\x07@main",
    ],
)
def test_refusals_show_no_password(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(text)
    assert "hunter22" not in f"{caught.value} {caught.value.hint} {caught.value.faults!r}"


def test_an_accepted_password_is_kept_for_the_connection_and_shown_nowhere() -> None:
    address, _ = parse_target("https://user:p%40ss%2Fword@host/x@main")
    assert address.login is not None
    assert (address.login.user, address.login.password) == ("user", "p@ss/word")
    shown = f"{address} {address!r} {address.url}"
    assert "p@ss" not in shown
    assert "p%40ss" not in shown
    assert "user" not in shown


def test_scrub_takes_the_login_out_of_a_librarys_message() -> None:
    address = RepoAddress.parse("https://user:p%40ssword@host/x")
    message = address.scrub("https://user:p%40ssword@host/x failed, password p@ssword")
    assert message == "https://host/x failed, password ***"
    assert RepoAddress.parse("https://host/x").scrub("nothing to hide") == "nothing to hide"


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_plain_http_to_this_machine_is_allowed(host: str) -> None:
    RepoAddress.parse(f"http://{host}/x").require_allowed(insecure_http=False)


@pytest.mark.parametrize("host", ["example.org", "10.0.0.1", "localhost.example.org", "127.0.0.1.example.org", "[::2]"])
def test_plain_http_elsewhere_needs_a_word(host: str) -> None:
    address = RepoAddress.parse(f"http://{host}/x")
    with pytest.raises(UsageError, match="plain http"):
        address.require_allowed(insecure_http=False)
    address.require_allowed(insecure_http=True)


_NAME = st.text("abcXYZ019._-", min_size=1, max_size=12).filter(lambda name: name.strip(".") != "")


@given(st.lists(_NAME, min_size=1, max_size=3), _NAME)
def test_division_is_the_inverse_of_joining(parts: list[str], revision: str) -> None:
    repository = "./" + "@".join(parts)
    address, found = parse_target(f"{repository}@{revision}")
    assert (address.path, found) == (repository, revision)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        address, _ = parse_target(text)
    except UsageError:
        return
    assert address.kind in {"local", "file", "https", "http", "ssh", "github"}
