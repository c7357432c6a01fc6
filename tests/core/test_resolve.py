"""Specifiers of JavaScript modules and the files they mean."""

from __future__ import annotations

import pytest

from tests.fakes.trees import MemoryTree
from tests.support.node import node
from trunchbuild.core.refused_globals import BUILTINS, REFUSED_BUILTINS
from trunchbuild.core.resolve import Refused, resolve

TREE = MemoryTree(
    dict.fromkeys(
        [
            *("a/main.ts", "a/lib.ts", "a/lib/index.js", "a/both.js", "a/both.ts", "a/data.json", "a/only.mts"),
            *("a/old.cjs", "a/dir/index.mjs", "shared/tag.ts", "index.ts", "a/notes.txt", "a/x.test.ts"),
        ],
        "",
    )
)


@pytest.mark.parametrize(
    ("specifier", "path"),
    [
        ("./lib.ts", "a/lib.ts"),
        ("./lib", "a/lib.ts"),
        ("./lib/", "a/lib/index.js"),
        ("./lib.js", "a/lib.ts"),
        ("./both.js", "a/both.js"),
        ("./both", "a/both.ts"),
        ("./data.json", "a/data.json"),
        ("./data", "a/data.json"),
        ("./only.mjs", "a/only.mts"),
        ("./old", "a/old.cjs"),
        ("./dir", "a/dir/index.mjs"),
        ("./dir/index", "a/dir/index.mjs"),
        ("../shared/tag", "shared/tag.ts"),
        ("../a/../a/./lib", "a/lib.ts"),
        ("..", "index.ts"),
        ("../", "index.ts"),
        ("./x.test", "a/x.test.ts"),
        ("crypto", "node:crypto"),
        ("node:util/types", "node:util/types"),
    ],
)
def test_found(specifier: str, path: str) -> None:
    assert resolve("a/main.ts", specifier, TREE) == path


@pytest.mark.parametrize(
    ("specifier", "message", "refused"),
    [
        ("./nowhere", "no such file", False),
        ("./Lib", "no such file", False),
        (".", "no such file", False),
        ("./notes.txt", "is no module", False),
        ("../../outside", "above the repository's root", True),
        ("../../a/lib", "above the repository's root", True),
        ("./lib.ts?v=1", "'?'", True),
        ("./lib.ts#x", "'#'", True),
        ("./%6cib.ts", "'%'", True),
        ("./dir\\index", "'\\\\'", True),
        ("zod", "is a package", True),
        ("@scope/x", "is a package", True),
        ("#internal", "is a package", True),
        ("", "is a package", True),
        ("/etc/passwd", "absolute path", True),
        ("data:text/javascript,1", "is a URL", True),
        ("https://x.y/z.js", "is a URL", True),
        ("file:///etc/x", "is a URL", True),
        ("fs", "is not available", True),
        ("node:fs/promises", "is not available", True),
        ("node:nothing", "is not available", True),
        ("worker_threads", "is not available", True),
    ],
)
def test_refused_by_name(specifier: str, message: str, refused: bool) -> None:
    answer = resolve("a/main.ts", specifier, TREE)
    assert isinstance(answer, Refused)
    assert message in answer.message
    assert answer.refused is refused


def test_letter_case_gets_a_hint() -> None:
    answer = resolve("a/main.ts", "./Lib", TREE)
    assert isinstance(answer, Refused)
    assert answer.hint == "did you mean `a/lib.ts`? letter case counts"


def test_every_built_in_of_node_has_an_answer() -> None:
    """Node's own list: each name is offered or refused with a reason, none is taken for a package."""
    names = node("import { builtinModules } from 'node:module'; console.log(builtinModules.join('\\n'))").split()
    public = {name.removeprefix("node:") for name in names if not name.startswith("_")}
    assert public - set(BUILTINS) - set(REFUSED_BUILTINS) == set()
