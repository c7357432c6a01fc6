"""`inspect` as a whole command, on a plain folder and on a commit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.support.bad_input import snapshot
from tests.support.command import trunchbuild
from tests.support.repos import make_repo
from tests.support.shared_data import COMMITTED

AUTHORING = COMMITTED / "authoring"
CONFIG = """export default {
  protocolVersion: 1, title: "Two kinds", version: "1.2.3",
  evals: ["evals/rows.ts", "evals/choices.mjs", "evals/own.mjs"],
}
"""
ROWS = """const transformer = "../gsm8k/transformers/index.ts" as const
export default {
  id: "rows", title: "Rows", evaluate: { kind: "non_empty" },
  cases: { transformer, sources: { test: "../data/test.jsonl" } },
}
"""
CHOICES = """export default {
  id: "choices", title: "Choices", evaluate: { kind: "non_empty" },
  cases: { transformer: "../choices/transformers/index.mjs", sources: { cases: "../choices/data/questions.jsonl" } },
}
"""
OWN = """import { half } from "./half.mjs"
export default {
  id: "own", title: "Own", cases: [{ id: "x", prompt: "Say 1 or 2.", data: 1 }],
  evaluate({ output, caseData }) { return { passed: output == caseData, score: half, message: null } },
}
"""


@pytest.fixture
def files() -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {
        str(path.relative_to(AUTHORING)): path.read_bytes() for path in AUTHORING.rglob("*") if path.is_file()
    }
    found["data/test.jsonl"] = (COMMITTED / "gsm8k" / "test-rows.jsonl").read_bytes()
    found["benchmark.config.ts"] = CONFIG
    found |= {"evals/rows.ts": ROWS, "evals/choices.mjs": CHOICES, "evals/own.mjs": OWN}
    found["evals/half.mjs"] = "export const half = 0.5\n"
    return found


def test_a_folder_and_its_commit_are_inspected_alike(
    files: dict[str, bytes | str], tmp_path: Path, warm_home: Path
) -> None:
    commit = make_repo(tmp_path / "repo", files)
    before = snapshot(tmp_path)
    folder = trunchbuild("inspect", "repo", "--json", cwd=tmp_path, home=warm_home)
    pinned = trunchbuild("inspect", f"repo@{commit}", "--json", cwd=tmp_path, home=warm_home)
    assert (folder.code, folder.err, pinned.code, pinned.err) == (0, "", 0, "")
    of_folder, of_commit = json.loads(folder.out), json.loads(pinned.out)
    assert (of_folder.pop("commit"), of_commit.pop("commit")) == (None, commit)
    assert (of_folder.pop("signature"), of_commit.pop("signature")) == (None, {"state": "none"})
    assert of_folder == of_commit
    assert snapshot(tmp_path) == before
    assert (of_folder["title"], of_folder["version"], of_folder["license"]) == ("Two kinds", "1.2.3", None)
    assert of_folder["caseCount"] == 36 + 2 + 1
    rows, choices, own = of_folder["evals"]
    assert (rows["evaluators"], choices["evaluators"], own["evaluators"]) == (
        {"gsm8k@1": 36},
        {"answer_bank@1": 2},
        {"custom": 1},
    )
    assert own["runModules"] == ["evals/half.mjs", "evals/own.mjs"]
    assert [module["path"] for module in rows["transformer"]["modules"]] == [
        "gsm8k/transformers/index.ts",
        "gsm8k/transformers/rows.ts",
    ]
    data = files["data/test.jsonl"]
    assert isinstance(data, bytes)
    assert rows["transformer"]["sources"]["test"] == {
        "path": "data/test.jsonl",
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
    }


def test_people_read_what_would_be_compiled_and_warnings_apart(
    files: dict[str, bytes | str], tmp_path: Path, warm_home: Path
) -> None:
    make_repo(tmp_path, files)
    outcome = trunchbuild("inspect", cwd=tmp_path, home=warm_home)
    assert outcome.code == 0
    assert "benchmark  Two kinds 1.2.3\n" in outcome.out
    assert "graded by  gsm8k@1 (36)\n" in outcome.out
    assert "cases      39 in 3 evals\n" in outcome.out
    assert outcome.err.startswith("warning: benchmark.config.ts: no license")


def test_an_evaluator_may_be_a_named_export(files: dict[str, bytes | str], tmp_path: Path, warm_home: Path) -> None:
    files["evals/own.mjs"] = """export default {
  id: "own", title: "Own", cases: [{ id: "x", prompt: "Say 1." }],
  evaluate: { kind: "custom", evaluatorKey: "evaluators/all.mjs#strict", sourcePath: "evaluators/all.mjs" },
}
"""
    files["evaluators/all.mjs"] = 'export * from "./strict.mjs"\n'
    files["evaluators/strict.mjs"] = (
        "export const strict = { evaluate: () => ({ passed: true, score: 1, message: '' }) }\n"
    )
    make_repo(tmp_path, files)
    outcome = trunchbuild("inspect", cwd=tmp_path, home=warm_home)
    assert outcome.code == 0, outcome.err
    assert "runs       evaluators/all.mjs\n           evaluators/strict.mjs\n" in outcome.out


def test_only_what_is_committed_counts_for_a_commit(
    files: dict[str, bytes | str], tmp_path: Path, warm_home: Path
) -> None:
    commit = make_repo(tmp_path, files)
    (tmp_path / "evals" / "own.mjs").write_text("export default {}\n")
    assert trunchbuild("inspect", ".", cwd=tmp_path, home=warm_home).code == 3
    outcome = trunchbuild("inspect", f".@{commit}", cwd=tmp_path, home=warm_home)
    assert outcome.code == 0
    assert "warning: the work tree" in outcome.err


PORTABLE = """export default {
  id: "ID", title: "T", evaluate: { kind: "non_empty" },
  cases: [{ id: "number", prompt: NUMBER }, { id: "hour", prompt: HOUR }, { id: "same", prompt: "p" }],
}
"""


def test_what_depends_on_locale_or_zone_is_found(tmp_path: Path, warm_home: Path) -> None:
    (tmp_path / "benchmark.config.json").write_text(
        '{"protocolVersion": 1, "title": "T", "version": "1", "license": "MIT", "evals": ["a.mjs", "b.mjs"]}'
    )
    local = {"NUMBER": "(1234.5).toLocaleString()", "HOUR": "String(new Date(0).getHours())"}
    fixed = {"NUMBER": '(1234.5).toLocaleString("en-US")', "HOUR": "String(new Date(0).getUTCHours())"}
    for name, values in (("a", local), ("b", fixed)):
        text = PORTABLE.replace("ID", name)
        for word, value in values.items():
            text = text.replace(word, value)
        (tmp_path / f"{name}.mjs").write_text(text)
    assert trunchbuild("inspect", cwd=tmp_path, home=warm_home).err == ""
    outcome = trunchbuild("inspect", "--portability", cwd=tmp_path, home=warm_home)
    assert outcome.code == 0
    [warning] = outcome.err.splitlines()
    assert warning.startswith("warning: a.mjs: 2 cases are others under locale tr-TR, time zone Pacific/Kiritimati")
    assert warning.endswith("case number /prompt, case hour /prompt")
    assert trunchbuild("inspect", "--portability", "--strict", cwd=tmp_path, home=warm_home).code == 3
