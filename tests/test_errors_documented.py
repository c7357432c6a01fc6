"""Every error a user may see has its own slug, a fitting exit code and an entry in the reference."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import trunchbuild
from trunchbuild.errors import ExitCode, TrunchbuildError

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"


def all_errors() -> set[type[TrunchbuildError]]:
    """Every subclass, after every module that may define one was imported."""
    for module in pkgutil.walk_packages(trunchbuild.__path__, "trunchbuild."):
        if ".guest" not in module.name and not module.name.endswith(("._server", ".__main__")):
            importlib.import_module(module.name)
    found: set[type[TrunchbuildError]] = set()
    waiting: list[type[TrunchbuildError]] = [TrunchbuildError]
    while waiting:
        for subclass in waiting.pop().__subclasses__():
            found.add(subclass)
            waiting.append(subclass)
    return found


def documented() -> dict[str, int]:
    """Slug and exit code of each row in errors.md."""
    text = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    return {slug: int(code) for slug, code in re.findall(r"^\| `([a-z0-9-]+)` \| (\d+) \|", text, flags=re.MULTILINE)}


def test_every_slug_is_documented_with_its_exit_code() -> None:
    """errors.md has a row for each slug with the code its class exits with, and none for a slug that is gone."""
    ours = {error.slug: int(error.exit_code) for error in all_errors() if error.__module__.startswith("trunchbuild.")}
    assert documented() == ours


def test_slugs_are_unique_and_stable_words() -> None:
    """Two errors never share a slug, and none inherits one: each class states its own."""
    errors = [error for error in all_errors() if error.__module__.startswith("trunchbuild.")]
    slugs = [error.__dict__.get("slug") for error in errors]
    assert [error.__name__ for error, slug in zip(errors, slugs, strict=True) if slug is None] == []
    assert sorted(slug for slug in set(slugs) if slugs.count(slug) > 1) == []
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(slug)) for slug in slugs)


def test_every_exit_code_is_documented() -> None:
    """exit-codes.md has a row for each code and no other."""
    text = (REFERENCE / "exit-codes.md").read_text(encoding="utf-8")
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", text, flags=re.MULTILINE)}
    assert rows == {0, 1, 2, 3, 4, 130} == {int(code) for code in ExitCode}
