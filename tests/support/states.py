"""Which state an operation left behind, the old or the new; anything between fails an assertion."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.operations import NEW, OLD, imported_id
from tests.support.runs import grade_doors
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.flows.check_release import Claim, check_release
from trunchbuild.flows.verify_run import verify_run


def whole(store: DiskStore) -> list[str]:
    """The releases of a store; each passes every check that needs nothing else."""
    for release in store.releases():
        checks, _ = check_release(store.open_raw(release), (Claim(release, "its id"),), None)
        assert {check.outcome for check in checks} == {"yes"}, (release, checks)
    return [str(release) for release in store.releases()]


class Compile:
    """The lockfile is that of one commit or the other, whole, and its release is in the store."""

    def __init__(self, old: Path, new: Path) -> None:
        self.old, self.new = self._lock(old), self._lock(new)
        assert self.old != self.new

    @staticmethod
    def _lock(folder: Path) -> bytes:
        return (folder / "lockfiles" / "sums.lock.toml").read_bytes()

    def state(self, folder: Path) -> str:
        lock = self._lock(folder)
        releases = whole(DiskStore(folder / "home" / "store"))
        assert any(release.encode() in lock for release in releases)
        return {self.old: "old", self.new: "new"}[lock]


class Import:
    """The store holds the release whole, or does not hold it."""

    def __init__(self, old: Path, new: Path) -> None:
        assert (self.state(old), self.state(new)) == ("old", "new")

    def state(self, folder: Path) -> str:
        found = whole(DiskStore(folder / "home" / "store"))
        return {(): "old", (str(imported_id()),): "new"}[tuple(found)]


class Collect:
    """What is needed stays; what is not needed may be gone."""

    def __init__(self, old: Path, new: Path) -> None:
        assert (self.state(old), self.state(new)) == ("old", "new")

    def state(self, folder: Path) -> str:
        store = DiskStore(folder / "home" / "store")
        assert whole(store) == [str(imported_id())]
        return "new" if store.usage().loose_objects == 0 else "old"


class Evaluate:
    """A run that says it ended verifies, and has the digest of a run that nothing disturbed."""

    def __init__(self, old: Path, new: Path) -> None:
        self.digest = self._digest(new)
        assert self._digest(old) is None

    @staticmethod
    def _digest(folder: Path) -> str | None:
        found = list(folder.glob("runs/**/summary.json"))
        return json.loads(found[0].read_text(encoding="utf-8"))["results_digest"] if found else None

    def state(self, folder: Path) -> str:
        digest = self._digest(folder)
        if digest is None:
            return "old"
        assert digest == self.digest
        (summary,) = folder.glob("runs/**/summary.json")
        store = DiskStore(folder / "store")
        report = verify_run(summary.parent, store.open, grade_doors(), claimed=None)
        assert report.outcome == "yes", report
        return "new"


class Replace:
    """Each file is the old one or the new one."""

    def __init__(self, old: Path, new: Path) -> None:
        assert (self.state(old), self.state(new)) == ("old", "new")

    def state(self, folder: Path) -> str:
        contents = [(folder / name).read_bytes() for name in ("one", "two")]
        kinds = {(OLD[0], NEW[0]).index(contents[0]), (OLD[1], NEW[1]).index(contents[1])}
        return "new" if kinds == {1} else "old"


JUDGES = {"compile": Compile, "import": Import, "collect": Collect, "evaluate": Evaluate, "replace": Replace}
