"""What is made to fail: each operation changes a prepared folder from an old state to a new one."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.fakes.endpoints import FakeEndpoints
from tests.support.runs import Bench, bench, doors, right, sums
from tests.support.workshop import CASES, Workshop
from trunchbuild.core.ids import Digest
from trunchbuild.core.replies import Reply, Step
from trunchbuild.effects.files._local import LocalFiles
from trunchbuild.effects.files.api import NewFile
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.errors import CheckedNoError
from trunchbuild.flows.evaluate import evaluate
from trunchbuild.flows.import_ import import_folder

VECTORS = Path(__file__).parent.parent / "vectors"
IMPORTED = VECTORS / "releases" / "small-sums-1.0.0"
SUMS = 5


def prepare_compile(folder: Path) -> None:
    """A store and a lockfile of the first commit, and a second commit."""
    shop = Workshop(folder)
    shop.compile("main")
    shop.change(*list(CASES.values())[:2])


def run_compile(folder: Path) -> None:
    """Compile the second commit: objects, an entry, the lockfile replaced."""
    Workshop(folder, commit="prepared").compile("main", update=True)


def prepare_two_commits(folder: Path) -> None:
    """Two commits, nothing compiled yet."""
    shop = Workshop(folder)
    (folder / "first").write_text(shop.commit, encoding="ascii")
    (folder / "second").write_text(shop.change(*list(CASES.values())[:2]), encoding="ascii")


def _run_compile_of(name: str, folder: Path) -> None:
    commit = (folder / name).read_text(encoding="ascii")
    outcome = Workshop(folder, commit=commit).compile(commit)
    if outcome.exit_code:
        raise CheckedNoError(outcome.status, expected=str(outcome.locked_release), got=str(outcome.release))


def prepare_import(folder: Path) -> None:
    """An empty store."""
    folder.mkdir(exist_ok=True)


def run_import(folder: Path) -> None:
    """Add a release folder."""
    report = import_folder(IMPORTED, None, store=DiskStore(folder / "home" / "store"))
    if report.outcome != "yes":
        raise CheckedNoError(str([str(fault) for check in report.checks for fault in check.faults] or report))


def prepare_collect(folder: Path) -> None:
    """A store with two releases, of which one is forgotten but still on the disk."""
    prepare_import(folder)
    run_import(folder)
    run_import_other(folder)
    store = DiskStore(folder / "home" / "store")
    (other,) = [release for release in store.releases() if release != imported_id()]
    store.remove(other)


def run_import_other(folder: Path) -> None:
    """Add another release folder."""
    other = VECTORS / "releases" / "packing-lists-1.0.0"
    import_folder(other, None, store=DiskStore(folder / "home" / "store"))


def imported_id() -> Digest:
    """The release that `run_import` adds."""
    return Digest(sha256((IMPORTED / "manifest.json").read_bytes()).hexdigest())


def run_collect(folder: Path) -> None:
    """Remove what no release needs."""
    DiskStore(folder / "home" / "store").collect()


def prepare_evaluate(folder: Path) -> None:
    """A store with a release of a few sums."""
    bench(folder, sums(SUMS))


def _answer(body: dict[str, Any]) -> Step:
    return Reply(right(body), finish_reason="stop")


def run_evaluate(folder: Path) -> None:
    """Run the release, or go on with the run; a store without any has none of the name that is asked for."""
    store = DiskStore(folder / "store")
    release = next(iter(store.releases()), Digest("0" * 64))
    place = Bench(store, release, folder / "runs")
    evaluate(place.release, place.options(), doors(FakeEndpoints(_answer)))


def run_collect_runs(folder: Path) -> None:
    """Remove what no release needs from the store that a run reads."""
    DiskStore(folder / "store").collect()


def run_forget(folder: Path) -> None:
    """Forget the release that a run reads, and remove what it alone needs."""
    store = DiskStore(folder / "store")
    for release in store.releases():
        store.remove(release)
    store.collect()


OLD, NEW = (b"old one\n", b"old two\n"), (b"new one\n" * 5000, b"new two\n")


def prepare_replace(folder: Path) -> None:
    """Two files."""
    folder.mkdir(exist_ok=True)
    for name, content in zip(("one", "two"), OLD, strict=True):
        (folder / name).write_bytes(content)


def run_replace(folder: Path) -> None:
    """Replace both."""
    LocalFiles().replace([NewFile(folder / name, [content]) for name, content in zip(("one", "two"), NEW, strict=True)])


Operation = Callable[[Path], None]
PREPARATIONS: dict[str, Operation] = {
    "compile": prepare_compile,
    "import": prepare_import,
    "collect": prepare_collect,
    "evaluate": prepare_evaluate,
    "replace": prepare_replace,
}
OPERATIONS: dict[str, Operation] = {
    "compile": run_compile,
    "import": run_import,
    "collect": run_collect,
    "evaluate": run_evaluate,
    "replace": run_replace,
}
MORE_OPERATIONS: dict[str, Operation] = {
    **OPERATIONS,
    "collect-runs": run_collect_runs,
    "forget": run_forget,
    "compile-first": partial(_run_compile_of, "first"),
    "compile-second": partial(_run_compile_of, "second"),
}


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Lines of JSON by another reader than ours."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
