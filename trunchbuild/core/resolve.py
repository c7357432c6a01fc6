"""How a specifier in a JavaScript or TypeScript module finds its file: relative paths inside the repository only.

As written, then with an extension added, then `./x.js` for `x.ts` (as TypeScript writes it), then a folder's index.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trunchbuild.core.refused_globals import BUILTINS, REFUSED_BUILTINS, Reason
from trunchbuild.core.tree import SourceTree
from trunchbuild.core.tree_names import folded

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
    code: str = "import-outside"
    """One of `policy_codes.CODES`."""


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
        hint = f"modules are {kinds}; other files are sources"
        return Refused(f"`{path}` is no module", hint, refused=False, code="missing-import")
    return missing_module(specifier, path, tree)


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
        reason = REFUSED_BUILTINS.get(name) or Reason("builtin-module", f"available are {', '.join(sorted(BUILTINS))}")
        return Refused(f"`{specifier}` is not available to benchmark modules", reason.hint, code=reason.code)
    if _URL.match(specifier):
        return Refused(f"`{specifier}` is a URL", "only files of the repository can be imported")
    if specifier.startswith("/"):
        return Refused(f"`{specifier}` is an absolute path", "write it relative to the importing file")
    return Refused(
        f"`{specifier}` is a package; packages are not installed",
        "copy what is needed into the repository and import it by a path that starts with `./` or `../`",
        code="package",
    )


def missing_module(specifier: str, path: str, tree: SourceTree) -> Refused:
    """Why nothing stands at `path`, and what stands nearest to it."""
    folds = {folded(candidate) for candidate in candidates(path, is_folder=False)}
    inside = "" if path == "." else f"{path}/"
    known = list(tree.paths())
    alike = next((one for one in known if folded(one) in folds), None)
    if alike is not None:
        return _missing(specifier, f"did you mean `{alike}`? letter case counts")
    for types in (f"{path}.d.ts", f"{path}.d.mts", f"{path}.d.cts"):
        if tree.is_file(types):
            return _missing(specifier, f"`{types}` holds only types, which `import type` imports: they are gone here")
    if any(one.startswith(inside) for one in known):
        hint = f"there is no `{inside}index` with one of {' '.join(EXTENSIONS)}"
        return _missing(specifier, hint, "; it is a folder without an index")
    near = _nearest(path, [one for one in known if one.endswith(EXTENSIONS)])
    return _missing(specifier, None if near is None else f"did you mean `{near}`?")


def _nearest(path: str, modules: Sequence[str]) -> str | None:
    """A module of a like name in the same folder, or one of the same name in another."""
    import difflib  # noqa: PLC0415 - only where something failed

    folder, stem = posixpath.dirname(path), posixpath.basename(path)
    names = {posixpath.basename(one): one for one in modules if posixpath.dirname(one) == folder}
    names |= {_stem(one): one for one in names.values()}
    near = difflib.get_close_matches(stem, names, n=1, cutoff=0.6)
    if near:
        return names[near[0]]
    elsewhere = [one for one in modules if _stem(one) == _stem(path)]
    return max(elsewhere, key=lambda one: len(posixpath.commonprefix([one, path])), default=None)


def _missing(specifier: str, hint: str | None, more: str = "") -> Refused:
    return Refused(f"`{specifier}`: no such file in the repository{more}", hint, refused=False, code="missing-import")


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]
