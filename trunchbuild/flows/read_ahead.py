"""Strip the types of many modules in one process, before each is looked at on its own.

Starting the process costs more than its work. Which modules will be needed is guessed from their text: a wrong guess
costs a little time and changes nothing, since what a module truly imports is read from its syntax tree later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from trunchbuild.core.resolve import TYPESCRIPT, candidates, joined
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.errors import BadInputError

_MOST = 200
"""Modules that are guessed; a benchmark has a handful."""
_SPECIFIER = re.compile(r"""(?:\bfrom|\bimport)\s*["'](\.{1,2}/[^"'\n]{1,400})["']""")


def read_ahead(tree: SourceTree, paths: Iterable[str], runtime: Runtime) -> None:
    """Have the runtime read these modules and what they seem to import; it keeps what it found.

    What cannot be read is left for whoever needs it to tell.
    """
    texts: dict[str, str] = {}
    wave = list(dict.fromkeys(paths))
    while wave and len(texts) < _MOST:
        tree.prefetch(wave)
        for path in wave:
            with suppress(BadInputError, UnicodeDecodeError):
                texts[path] = tree.read(path).decode("utf-8")
        found = {target for path in wave if path in texts for target in _imports(tree, path, texts[path])}
        wave = sorted(found - texts.keys())
    typed = {path: text for path, text in texts.items() if path.endswith(TYPESCRIPT)}
    if len(typed) > 1:
        runtime.survey(typed)


def _imports(tree: SourceTree, path: str, text: str) -> Iterator[str]:
    for specifier in _SPECIFIER.findall(text):
        for candidate in candidates(joined(path, specifier), is_folder=specifier.endswith("/")):
            if not candidate.startswith("../") and tree.is_file(candidate):
                yield candidate
                break
