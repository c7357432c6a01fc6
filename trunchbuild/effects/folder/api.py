"""Plain folders as source trees: for previews, which read what is on disk and pin nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from trunchbuild.core.tree import SourceTree


class Folders(Protocol):
    """Opens a folder of this machine as a tree of files."""

    def open(self, root: Path) -> SourceTree:
        """The files below `root`, read when asked for; `root` itself may be reached through links, nothing below it.

        Raises:
            BadInputError: `root` is no folder.
            MachineError: The operating system refuses.
        """
        ...
