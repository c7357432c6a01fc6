"""How a specifier in a JavaScript or TypeScript module finds its file: relative paths inside the repository only.

As written, then with an extension added, then `./x.js` for `x.ts` (as TypeScript writes it), then a folder's index.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trunchbuild.core.refused_globals import BUILTINS, REFUSED_BUILTINS
from trunchbuild.core.tree import SourceTree

EXTENSIONS = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json")
TYPESCRIPT = (".ts", ".mts", ".cts")
_WRITTEN_FOR = {".js": ".ts", ".mjs": ".mts", ".cjs": ".cts"}
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ODD = re.compile(r"[?#%\\\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Refused:
    """A specifier that leads nowhere. `refused` tells what is not available from what is missing."""

    message: str
    hint: str | None = None
    refused: bool = True


def resolve(importer: str, specifier: str, tree: SourceTree) -> str | Refused:
    """The repository path of a specifier, or `node:NAME`, or why neither."""
    if not specifier.startswith(("./", "../")) and specifier not in {".", ".."}:
        return _not_relative(specifier)
    odd = _ODD.search(specifier)
    if odd is not None:
        return Refused(f"`{specifier}` holds {odd.group()!r}", "a specifier is a path with `/`, not a URL")
    path = joined(importer, specifier)
    if path == ".." or path.startswith("../"):
        return Refused(f"`{specifier}` leads above the repository's root")
    for candidate in candidates(path, is_folder=specifier.endswith("/") or specifier in {".", ".."}):
        if tree.is_file(candidate):
            return candidate
    if tree.is_file(path):
        kinds = " ".join(EXTENSIONS)
        return Refused(f"`{path}` is no module", f"modules are {kinds}; other files are sources", refused=False)
    return Refused(f"`{specifier}`: no such file in the repository", _near(path, tree), refused=False)


def joined(importer: str, specifier: str) -> str:
    """The normalised path of a relative specifier; it may lead above the root (`..`)."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), specifier))


def candidates(path: str, *, is_folder: bool) -> Iterator[str]:
    """The files that a normalised path may mean, in order of preference."""
    if not is_folder and path != ".":
        stem, extension = posixpath.splitext(path)
        if extension in EXTENSIONS:
            yield path
        for added in EXTENSIONS:
            yield path + added
        if extension in _WRITTEN_FOR:
            yield stem + _WRITTEN_FOR[extension]
    folder = "" if path == "." else f"{path}/"
    for added in EXTENSIONS:
        yield f"{folder}index{added}"


def _not_relative(specifier: str) -> str | Refused:
    name = specifier.removeprefix("node:")
    if name in BUILTINS:
        return f"node:{name}"
    if name in REFUSED_BUILTINS or specifier.startswith("node:"):
        hint = REFUSED_BUILTINS.get(name, f"available are {', '.join(sorted(BUILTINS))}")
        return Refused(f"`{specifier}` is not available to benchmark modules", hint)
    if _URL.match(specifier):
        return Refused(f"`{specifier}` is a URL", "only files of the repository can be imported")
    if specifier.startswith("/"):
        return Refused(f"`{specifier}` is an absolute path", "write it relative to the importing file")
    return Refused(
        f"`{specifier}` is a package; packages are not installed",
        "copy what is needed into the repository and import it by a path that starts with `./` or `../`",
    )


def _near(path: str, tree: SourceTree) -> str | None:
    """A file whose name differs only by letter case."""
    wanted = {candidate.casefold() for candidate in candidates(path, is_folder=False)}
    return next(_same(tree.paths(), wanted), None)


def _same(paths: Iterable[str], wanted: set[str]) -> Iterator[str]:
    for path in paths:
        if path.casefold() in wanted:
            yield f"did you mean `{path}`? letter case counts"
