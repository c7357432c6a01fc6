"""`REPO@REV` as typed, to the files of one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trunchbuild.core.repo import parse_target
from trunchbuild.effects.git.api import CommitTree, Git


@contextmanager
def open_target(
    target: str, *, git: Git, warn: Callable[[str], None], insecure_http: bool = False
) -> Iterator[CommitTree]:
    """Open the commit that `target` names, and pass on what a person should know about it (a dirty work tree).

    Raises:
        UsageError: The address is refused, or there is no revision (the message prints the commit it would pin).
        TrunchbuildError: What `Git.open` raises.
    """
    address, revision = parse_target(target)
    with git.open(address, revision, insecure_http=insecure_http) as tree:
        for warning in tree.pin.warnings:
            warn(warning)
        yield tree
