"""The modules of a release as a source tree: what grading runs comes from the release, not from a repository."""

from __future__ import annotations

from collections.abc import Iterable

from trunchbuild.core.manifest import MODULES
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.tree import missing_file
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.store.api import ReleaseFiles


class ReleaseModules:
    """A `SourceTree` of the files under `modules/` of a release, by their repository paths."""

    def __init__(self, release: ReleaseFiles) -> None:
        self._release = release
        listed = (entry.path for entry in release.manifest.files)
        self._paths = sorted(path.removeprefix(MODULES) for path in listed if path.startswith(MODULES))

    def read(self, path: str) -> bytes:
        """See `SourceTree`."""
        if path not in self._paths:
            raise missing_file(path, path, self._paths)
        return self._release.read(MODULES + path)

    def is_file(self, path: str) -> bool:
        """See `SourceTree`."""
        return path in self._paths

    def prefetch(self, paths: Iterable[str]) -> None:
        """See `SourceTree`; everything is here already."""

    def paths(self) -> Iterable[str]:
        """See `SourceTree`."""
        return self._paths

    def graph(self, entry: str, runtime: Runtime) -> ModuleGraph:
        """The closed graph of a module and all that it imports."""
        from trunchbuild.flows.modules import load_graph  # noqa: PLC0415 - most releases have no module to run

        return load_graph(self, entry, runtime)
