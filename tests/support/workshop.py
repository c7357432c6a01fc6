"""A repository with real commits, a fake runtime and a real store: what compiling and verifying need."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from tests.fakes.runtime import FakeRuntime
from tests.support.repos import add_commit, make_repo
from trunchbuild.core.json_types import Json
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.files._local import LocalFiles
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.runtime.api import RuntimeVersions
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.effects.signatures._programs import ProgramSignatures, UserKeys
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.flows.compile import CompileOrder, CompileOutcome, CompileTools, compile_release
from trunchbuild.flows.from_commit import BuildOrder, BuildTools
from trunchbuild.flows.verify import VerifyOrder, VerifyTools, verify

CONFIG = {"protocolVersion": 1, "title": "Sums", "version": "1.0.0", "license": "CC0-1.0", "evals": ["evals/sums.mjs"]}
EVAL = {
    "id": "sums",
    "title": "Sums",
    "cases": "../data/cases.jsonl",
    "evaluate": {"kind": "exact", "expected": "4"},
}
CASES: dict[str, Mapping[str, Json]] = {
    "a": {"id": "a", "prompt": "1 + 3?"},
    "b": {"id": "b", "prompt": "2 + 3?", "evaluate": {"kind": "exact", "expected": "5"}},
    "c": {"id": "c", "prompt": "3 + 3?", "evaluate": {"kind": "exact", "expected": "6"}},
}


def jsonl(*cases: Mapping[str, Json]) -> str:
    return "".join(json.dumps(case) + "\n" for case in cases)


@dataclass
class VersionedRuntime(FakeRuntime):
    """A fake runtime of a stated version."""

    named: Mapping[str, str] = field(default_factory=lambda: {"node": "24.0.0", "icu": "77.1", "python": "3.11.7"})

    def versions(self) -> RuntimeVersions:
        return RuntimeVersions(self.named)


class FixedClock:
    """A clock that stands."""

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError

    def jitter(self) -> float:
        return 0.0


class Workshop:
    """One repository, one lock folder, one store."""

    def __init__(self, folder: Path, commit: str | None = None) -> None:
        """In a folder that holds nothing, or with the `commit` of a repository that it holds."""
        self.folder = folder
        self.repo = folder / "repo"
        self.locks = folder / "lockfiles"
        self.store = DiskStore(folder / "home" / "store")
        self.files = LocalFiles()
        self.runtime = VersionedRuntime(exports={"evals/sums.mjs": EVAL})
        first = jsonl(*CASES.values())
        self.commit = commit or make_repo(
            self.repo, {"benchmark.config.json": json.dumps(CONFIG), "evals/sums.mjs": "", "data/cases.jsonl": first}
        )

    def change(self, *cases: Mapping[str, Json]) -> str:
        """Commit other cases; gives the commit's id."""
        return add_commit(self.repo, {"data/cases.jsonl": jsonl(*cases)}, message="Change cases")

    @property
    def build_tools(self) -> BuildTools:
        signatures = ProgramSignatures(UserKeys(self.folder / "home"))
        return BuildTools(DulwichGit(), self.runtime, PackageSchemas(), self.store, signatures)

    def compile(self, revision: str = "main", *, seal_key: bytes | None = None, **options: object) -> CompileOutcome:
        build = BuildOrder(RepoAddress.parse(str(self.repo)), revision, seal_key=seal_key)
        order = replace(CompileOrder(build, self.locks), **options)  # type: ignore[arg-type]
        return compile_release(
            order, CompileTools(self.build_tools, self.files, FixedClock(), lambda: "fake 1", "0.1.0")
        )

    def verify(self, text: str | Path, **options: object):
        order = replace(VerifyOrder(str(text)), **options)  # type: ignore[arg-type]
        return verify(order, VerifyTools(self.files, self.store, lambda: self.build_tools))

    @property
    def lock(self) -> Path:
        return self.locks / "sums.lock.toml"

    @property
    def address(self) -> RepoAddress:
        return RepoAddress.parse(str(self.repo))
