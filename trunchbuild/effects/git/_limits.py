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
    inflated_bytes: int = 64 << 30
    """That come out of one answer in all: some minutes of work."""
    refs_bytes: int = 256 << 20
    """Of what a server says before and between its objects: a list of refs, progress, warnings. The largest public
    repositories have some tens of MiB of refs."""
    paths: int = 1_000_000
    """In one commit: a few small trees that name one another can hold any number of paths (a "git bomb")."""
    connect_seconds: float = 30.0
    """To reach a server."""
    idle_seconds: float = 300.0
    """Without a byte. A server may take minutes to count objects before it sends the first one."""
    talk_seconds: float = 3600.0
    """For one request and its whole answer: a hostile server sends a byte now and then, for ever."""
