"""Which file of a repository is the benchmark's config."""

from __future__ import annotations

import posixpath
from typing import ClassVar

from trunchbuild.core.tree import SourceTree
from trunchbuild.errors import BadInputError, ExitCode, Fault, TrunchbuildError

CONFIG_NAMES = tuple(f"benchmark.config.{ending}" for ending in ("ts", "mts", "js", "mjs", "json"))

_LISTED = 20


class ConfigNotChosenError(TrunchbuildError):
    """No config at the root, or more than one there, and none named; the candidates are listed."""

    slug: ClassVar[str] = "config-not-chosen"
    exit_code: ClassVar[ExitCode] = ExitCode.USAGE


def choose_config(tree: SourceTree, named: str | None) -> str:
    """The repository path of the config: the one named, else the only one at the root.

    Raises:
        ConfigNotChosenError: None is named, and the root holds none or several.
        BadInputError: The one named is not there, leaves the repository, or has an ending that cannot be read.
    """
    if named is not None:
        return _named(tree, named)
    at_root = [name for name in CONFIG_NAMES if tree.is_file(name)]
    if len(at_root) == 1:
        return at_root[0]
    if at_root:
        raise ConfigNotChosenError(
            "the repository's root holds several configs",
            expected="one, or `--config`",
            got=", ".join(at_root),
            hint=f"name one: --config {at_root[0]}",
        )
    deeper = _configs(tree)
    if not deeper:
        raise BadInputError(
            "the repository holds no benchmark config",
            expected=f"one of {', '.join(CONFIG_NAMES)} at its root",
            hint="docs/authoring.md shows a complete repository",
        )
    shown = ", ".join(deeper[:_LISTED]) + (f" and {len(deeper) - _LISTED} more" if len(deeper) > _LISTED else "")
    raise ConfigNotChosenError(
        "the repository's root holds no config, but its folders do",
        expected="`--config`",
        got=shown,
        hint=f"name one: --config {deeper[0]}",
    )


def _named(tree: SourceTree, named: str) -> str:
    path = posixpath.normpath(named)
    if path.startswith(("/", "../")) or path == "..":
        raise BadInputError(
            "the config's path leaves the repository", place=named, expected="a path from the repository's root"
        )
    if not path.endswith((".ts", ".mts", ".js", ".mjs", ".json")):
        raise BadInputError(
            "a config is a module or a JSON file", place=named, expected=".ts, .mts, .js, .mjs or .json"
        )
    if tree.is_file(path):
        return path
    others = _configs(tree)
    fault = Fault(
        path,
        "no such config",
        hint=f"the repository holds {', '.join(others[:_LISTED])}" if others else "the repository holds no config",
    )
    raise BadInputError(fault.message, faults=[fault])


def _configs(tree: SourceTree) -> list[str]:
    return [path for path in tree.paths() if posixpath.basename(path) in CONFIG_NAMES]
