"""Files in memory as a source tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trunchbuild.core.tree import missing_file


class MemoryTree:
    """A `SourceTree` of texts or bytes by path; `prefetched` records what was announced."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
        self.prefetched: list[str] = []
        self.opened: list[str] = []

    def read(self, path: str) -> bytes:
        self.opened.append(path)
        if path not in self.files:
            raise missing_file(path, path, self.files)
        return self.files[path]

    def is_file(self, path: str) -> bool:
        return path in self.files

    def prefetch(self, paths: Iterable[str]) -> None:
        self.prefetched.extend(paths)

    def paths(self) -> Iterable[str]:
        return sorted(self.files)
