"""A small release to run, and everything that a run needs, wired for tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.fakes.endpoints import FakeEndpoints
from tests.support.releases import RECORD, add_release, benchmark, case, dumped
from trunchbuild.core.ids import ReleaseId
from trunchbuild.core.loaded import CaseLines, CustomEvaluator, FileRecord, LoadedEval
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.effects.endpoint.api import CallLimits, Target
from trunchbuild.effects.files._local import LocalFiles
from trunchbuild.effects.journal._sqlite import SqliteJournals
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.effects.store.api import ReleaseFiles
from trunchbuild.flows.ask import Asking
from trunchbuild.flows.evaluate import Doors, Progress, RunOptions
from trunchbuild.flows.grade import GradeDoors

CANARY = "canary-of-the-private-part"
"""Stands in every private line of these releases and nowhere in the public part."""


def sum_case(number: int, eval_id: str = "sums", **public: Any) -> CaseLines:
    """`NUMBER + 1?`, right is the sum alone."""
    made = case(eval_id, f"q{number}", f"{number} + 1?", str(number + 1), **public)
    private = {**json.loads(made.private), "gold": CANARY}
    return replace(made, private=dumped(private))


def sums(count: int, eval_id: str = "sums", **public: Any) -> LoadedEval:
    """An eval of sums."""
    return one_eval([sum_case(number, eval_id, **public) for number in range(count)], eval_id)


def one_eval(cases: Sequence[CaseLines], eval_id: str = "sums", **more: Any) -> LoadedEval:
    return LoadedEval(
        id=eval_id, title=eval_id.title(), module=replace(RECORD, path="evals/x.js"), form="inline", cases=cases, **more
    )


def judged_eval(count: int) -> LoadedEval:
    """An eval that a function of its repository grades."""
    evaluate = {"kind": "custom", "evaluatorKey": "evaluators/half.py#default", "sourcePath": "evaluators/half.py"}
    cases = [
        CaseLines(
            id=f"j{number}",
            public=dumped({"eval": "judged", "id": f"j{number}", "prompt": f"{number} + 1?"}),
            private=dumped({"eval": "judged", "id": f"j{number}", "evaluate": evaluate, "data": {"want": number + 1}}),
            kind="custom",
        )
        for number in range(count)
    ]
    return LoadedEval(
        id="judged",
        title="Judged",
        module=FileRecord("evals/judged.js", "12" * 32, 100),
        form="inline",
        cases=cases,
        custom=CustomEvaluator("evaluators/half.py", "default.evaluate"),
        run_modules=("evaluators/half.py",),
    )


@contextmanager
def silent(label: str, total: int) -> Iterator[Progress]:
    class Nothing:
        def advance(self, steps: int = 1, note: str = "") -> None:
            pass

    yield Nothing()


def no_runtime() -> Runtime:
    raise AssertionError("nothing here has an evaluator of its repository")


@dataclass(slots=True)
class Bench:
    """A store with one release, and where runs go."""

    store: DiskStore
    release_id: ReleaseId
    out: Path

    @property
    def release(self) -> ReleaseFiles:
        return self.store.open(self.release_id)

    def spec(self, **changes: Any) -> RunSpec:
        evals = tuple(entry.id for entry in self.release.manifest.evals)
        return replace(RunSpec(self.release_id, evals, "m", "here"), **changes)

    def options(self, spec: RunSpec | None = None, **changes: Any) -> RunOptions:
        asking = Asking(Target("http://127.0.0.1:9/v1"), CallLimits(connections=4))
        options = RunOptions(spec or self.spec(), self.out, asking, {"min_coverage": 0.8}, min_coverage=0.8)
        return replace(options, **changes)


def bench(folder: Path, *evals: LoadedEval, modules: dict[str, str] | None = None) -> Bench:
    """Freeze these evals (three sums where there are none)."""
    store = DiskStore(folder / "store")
    release = add_release(store, benchmark(*(evals or (sums(3),))), modules=modules or {})
    return Bench(store, release, folder / "runs")


def doors(endpoints: FakeEndpoints, runtime: Callable[[], Runtime] = no_runtime) -> Doors:
    return Doors(lambda: endpoints, SqliteJournals(), LocalFiles(), runtime, silent)


def grade_doors(runtime: Callable[[], Runtime] = no_runtime) -> GradeDoors:
    return GradeDoors(LocalFiles(), SqliteJournals(), runtime)


def right(body: dict[str, Any]) -> str:
    """The right answer to a sum."""
    return str(int(body["messages"][-1]["content"].split()[0]) + 1)


def jsonl(path: Path) -> list[dict[str, Any]]:
    """The lines of a file by another reader than ours."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
