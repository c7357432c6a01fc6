"""Read the declared sources of a transformer: exact text, and what a receipt says about each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from trunchbuild.core.loaded import FileRecord, SourceRecord
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import SourceText
from trunchbuild.errors import BadInputError
from trunchbuild.flows.refusals import Refusals


class SourceTextError(BadInputError):
    """A source's bytes are not UTF-8; the place is the file, the message gives the byte offset."""

    slug: ClassVar[str] = "source-not-utf8"


@dataclass(frozen=True, slots=True)
class Source:
    """One source: what the transformer gets and what is recorded."""

    record: SourceRecord
    text: SourceText

    def shown_as(self, path: str) -> Source:
        """The same source under another path."""
        return Source(replace(self.record, file=replace(self.record.file, path=path)), replace(self.text, path=path))


def file_record(path: str, data: bytes) -> FileRecord:
    """What is recorded of a file with these raw bytes."""
    return FileRecord(path, hashlib.sha256(data).hexdigest(), len(data))


def read_source(tree: SourceTree, name: str, path: str) -> Source:
    """Read one source; a byte order mark stays in the text, since the text is exact.

    Raises:
        SourceTextError: The bytes are not UTF-8.
        BadInputError: The path is no regular file of the tree.
    """
    data = tree.read(path)
    record = file_record(path, data)
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceTextError(
            f"source `{name}` is not UTF-8 at byte offset {error.start}",
            place=path,
            got=f"byte 0x{data[error.start]:02x} in line {line}",
            hint="save the file as UTF-8",
        ) from None
    return Source(SourceRecord(name, record), SourceText(path, content, record.sha256))


def read_sources(tree: SourceTree, paths: Mapping[str, str]) -> list[Source]:
    """Read all sources of a tree, in the order of `paths`; every one that cannot be read is listed.

    Raises:
        BadInputError: At least one cannot be read.
    """
    tree.prefetch(paths.values())
    return read_all(partial(read_source, tree, name, path) for name, path in paths.items())


def read_all(readers: Iterable[Callable[[], Source]]) -> list[Source]:
    """Call each reader; what they refuse is one error.

    Raises:
        BadInputError: At least one refused.
    """
    sources: list[Source] = []
    refusals = Refusals()
    for reader in readers:
        with refusals.gather():
            sources.append(reader())
    refusals.tell("the sources")
    return sources
