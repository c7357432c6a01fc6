"""Every reader of text from outside, each stated once: for the fuzzer and for the tests."""

from __future__ import annotations

from fuzz import git, guests, machine, texts, values
from fuzz.errors import Reader

READERS: dict[str, Reader] = {
    reader.name: reader for reader in (*values.READERS, *texts.READERS, *guests.READERS, *machine.READERS, *git.READERS)
}
