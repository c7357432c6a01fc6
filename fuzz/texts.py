"""Readers of everything that is not JSON: Git's objects, TOML, addresses, HTTP, modules, numbers."""

from __future__ import annotations

import ast
import math
import os
import re
import tomllib
import warnings
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path

from fuzz.errors import Reader
from trunchbuild.core.call_policy import http_failure, is_retried, lacks_capability, refused_parameter, retry_after
from trunchbuild.core.ecmascript import exact_integer, number_text
from trunchbuild.core.ids import Digest
from trunchbuild.core.lockfile import parse_lock
from trunchbuild.core.merkle import audit_path, root_from_path, root_of
from trunchbuild.core.policy import survey_module
from trunchbuild.core.policy_python import check_python
from trunchbuild.core.providers import check_base_url, check_proxy, read_providers
from trunchbuild.core.replies import classify, read_chat_reply, whole_text
from trunchbuild.core.repo import parse_target, recorded_url
from trunchbuild.core.revision import candidate_refs, check_revision
from trunchbuild.core.source_map import original_position
from trunchbuild.core.survey import Finding, Survey
from trunchbuild.core.tree_names import folded, name_fault, path_parts
from trunchbuild.core.tree_objects import parse_tree, target_of_tag, tree_of_commit
from trunchbuild.effects.git._received import ReceivedPack

LINE_ENDS = re.compile("\r\n|[\n\r\u2028\u2029]")

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def text_of(data: bytes) -> str:
    """As text, every byte a character somewhere; the command line hands over undecodable bytes as surrogates."""
    return data.decode("utf-8", "surrogateescape")


def lockfile(data: bytes) -> None:
    """What is accepted is TOML for Python's reader, and reads back from what it writes."""
    lock = parse_lock(data, "x.lock.toml")
    assert tomllib.loads(data.decode()) is not None
    again = parse_lock(lock.toml(), "again")
    assert again == lock


def chat_reply(data: bytes) -> None:
    """Every body is some outcome, and every body some failure."""
    step, _ = read_chat_reply(data)
    outcome = classify(step)
    assert outcome is not None
    for status in (200, 400, 401, 404, 429, 500, 503):
        failure, body = http_failure(status, data)
        assert failure is not None
        is_retried(status, step, body)
        lacks_capability(body)
        refused_parameter(status, body, {"max_tokens": 1, "temperature": 0})
    whole_text(text_of(data))


def wait_header(data: bytes) -> None:
    """A wait is a number of seconds from 0 on, or nothing."""
    wait = retry_after(data.decode("latin-1"), NOW)
    assert wait is None or (wait >= 0 and math.isfinite(wait))


def tree(data: bytes) -> None:
    """Entries keep their names and order; an accepted tree is what Git itself would write."""
    for object_format, width in (("sha1", 20), ("sha256", 32)):
        with suppress_ours():
            entries = parse_tree(data, object_format, place="tree")  # type: ignore[arg-type]
            assert sum(len(entry.name) + 2 + width for entry in entries) <= len(data)


def commit(data: bytes) -> None:
    for object_format in ("sha1", "sha256"):
        with suppress_ours():
            found = tree_of_commit(data, object_format, place="commit")  # type: ignore[arg-type]
            assert data.startswith(b"tree " + found.encode())


def tag(data: bytes) -> None:
    for object_format in ("sha1", "sha256"):
        with suppress_ours():
            found = target_of_tag(data, object_format, place="tag")  # type: ignore[arg-type]
            assert data.startswith(b"object " + found.encode())


def suppress_ours() -> suppress:
    """Each of two readings may be refused; the refusal's text is checked by the reader that is run on its own."""
    from trunchbuild.errors import TrunchbuildError

    return suppress(TrunchbuildError)


def pack(data: bytes) -> None:
    """With a checksum that fits, whatever stands before it. Each object that is named has the bytes of its name."""
    body = data[:-20]
    descriptor = os.memfd_create("pack")
    try:
        os.write(descriptor, body + sha1(body).digest())
        pack = ReceivedPack(Path(f"/proc/self/fd/{descriptor}"), "sha1", inflated=1 << 24, place="pack")
        try:
            for name, offset in pack.named():
                kind, content = pack.objects.read(offset, 1 << 24, "pack")
                assert sha1(b"%b %d\0" % (kind.encode(), len(content)) + content).digest() == name
        finally:
            pack.close()
    finally:
        os.close(descriptor)


def target(data: bytes) -> None:
    """No password stays in what is recorded."""
    text = text_of(data)
    address, revision = parse_target(text)
    recorded_url(text)
    if revision is not None:
        check_revision(revision)
    assert address.kind


def revision(data: bytes) -> None:
    text = text_of(data)
    check_revision(text)
    assert all(text in ref for ref in candidate_refs(text))


def names(data: bytes) -> None:
    """A name without a fault is one part of a path; folding is stable."""
    if name_fault(data) is None:
        name = data.decode()
        assert path_parts(name) == [name]
        assert folded(folded(name)) == folded(name)
    path_parts(text_of(data))


def number(data: bytes) -> None:
    """A number's text reads back as that number."""
    try:
        value = float(data.decode("ascii"))
    except (UnicodeDecodeError, ValueError):
        return
    if math.isfinite(value):
        assert float(number_text(value)) == value
    with suppress(ValueError):
        literal = data.decode("ascii")
        if literal.lstrip("-").isdigit() and len(literal) < 100:
            kept = exact_integer(literal)
            assert kept == int(literal) if isinstance(kept, int) else number_text(kept) == literal


def merkle(data: bytes) -> None:
    """Every line's path leads to the root, and no other line's."""
    lines = data.split(b"\n")[:40]
    root = root_of(lines)
    index = len(data) % len(lines)
    path = audit_path(lines, index)
    assert root_from_path(lines[index], index, len(lines), path) == root
    assert root_from_path(lines[index] + b"x", index, len(lines), path) != root


def source_map(data: bytes) -> None:
    line, column = original_position(text_of(data), 3, 4)
    assert line >= 1
    assert column >= 1


def javascript(data: bytes) -> None:
    """Every finding has a place inside the text, or the text's end."""
    from trunchbuild.core.javascript_parser import Unreadable

    text = data.decode("utf-8", "replace")
    try:
        survey = survey_module("x.mjs", text)
    except Unreadable as error:
        assert 0 <= error.offset <= len(text)
        return
    check_places(survey.findings, "x.mjs", text)
    assert Survey.from_json(survey.to_json()) == survey


def python(data: bytes) -> None:
    """A module without a finding is Python for Python's own parser; every finding has a place inside the text."""
    text = data.decode("utf-8", "replace")
    checked = check_python("x.py", text)
    check_places(checked.findings, "x.py", text)
    if not checked.findings:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.encode())


def check_places(findings: Iterable[Finding], path: str, text: str) -> None:
    """`PATH:LINE:COLUMN` from 1, no line beyond the text's last; or the file alone."""
    lines = len(LINE_ENDS.findall(text)) + 1
    for found in findings:
        file, _, position = found.fault.place.partition(":")
        assert file == path
        assert found.fault.message
        if position:
            line, column = map(int, position.split(":"))
            assert 1 <= line <= lines
            assert 1 <= column <= len(text.encode("utf-16-le", "surrogatepass")) + 1


def providers(data: bytes) -> None:
    read_providers(data.decode("utf-8", "replace"), "providers.toml")


def base_url(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with suppress_ours():
        check_proxy(text, "HTTPS_PROXY")
    check_base_url(text, "--base-url")


def digest(data: bytes) -> None:
    text = text_of(data)
    assert str(Digest.parse(text)) == text


READERS = (
    Reader("lockfile", lockfile),
    Reader("chat-reply", chat_reply, json=True),
    Reader("retry-after", wait_header, max_bytes=200),
    Reader("tree", tree),
    Reader("commit", commit),
    Reader("tag", tag),
    Reader("pack", pack),
    Reader("target", target, max_bytes=400),
    Reader("revision", revision, max_bytes=200),
    Reader("names", names, max_bytes=300),
    Reader("number", number, max_bytes=60),
    Reader("merkle", merkle, max_bytes=400),
    Reader("source-map", source_map, max_bytes=1000),
    Reader("javascript", javascript, max_bytes=1000),
    Reader("python", python, max_bytes=1000),
    Reader("providers", providers, max_bytes=1000),
    Reader("base-url", base_url, max_bytes=300),
    Reader("digest", digest, max_bytes=200),
)
