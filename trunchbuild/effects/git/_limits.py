"""What one repository may cost."""

from __future__ import annotations

from dataclasses import dataclass

from trunchbuild.core.tree import MAX_FILE_BYTES


@dataclass(frozen=True, slots=True)
class GitLimits:
    """Each is refused with a message when passed."""

    file_bytes: int = MAX_FILE_BYTES
    """Of one object that is read."""
    pack_bytes: int = 2 << 30
    """Of one answer of a server; a hostile one never ends."""
    refs_bytes: int = 256 << 20
    """Of one list of a server's refs over http; the largest public repositories have some tens of MiB."""
    paths: int = 1_000_000
    """In one commit: a few small trees that name one another can hold any number of paths (a "git bomb")."""
