"""Static findings in Python transformers. Each refused text has a twin that is allowed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.trees import MemoryTree
from trunchbuild.core.modules import ModuleBrokenError, ModuleRefusedError
from trunchbuild.core.policy_python import check_python
from trunchbuild.core.python_library import BUILTINS, LIBRARY, REFUSED_BUILTINS
from trunchbuild.core.resolve_python import load_python_graph
from trunchbuild.errors import BadInputError


def places(text: str) -> list[str]:
    """`line:column` of each finding."""
    return [finding.fault.place.removeprefix("t.py:") for finding in check_python("t.py", text).findings]


@pytest.mark.parametrize(
    ("refused", "place", "allowed"),
    [
        ("import os", "1:1", "import re"),
        ("import json, os", "1:1", "import json, re"),
        ("import os.path", "1:1", "import collections.abc"),
        ("x = 1\nfrom random import choice", "2:1", "x = 1\nfrom math import pi"),
        ("from urllib import request", "1:1", "from urllib import parse"),
        ("import urllib", "1:1", "import urllib.parse"),
        ("from io import open", "1:1", "from io import StringIO"),
        ("import io\nio.open('x')", "2:1", "import io\nio.StringIO('x')"),
        ("import io as i\ni.open('x')", "2:1", "import io as i\ni.StringIO('x')"),
        ("from functools import singledispatch", "1:1", "from functools import reduce"),
        ("from .x import __builtins__", "1:1", "from .x import __version__"),
        ("from typing import get_type_hints", "1:1", "from typing import Any"),
        ("open('x')", "1:1", "def open(x): ...\nopen('x')"),
        ("f = id", "1:5", "for id in (1, 2): print(id)"),
        ("sorted([], key=id)", "1:16", "def f(id): return id"),
        ("[id for x in ()]", "1:2", "[id for id in ()]"),
        ("[x for x in id]", "1:13", "id = []\n[x for x in id]"),
        ("class C:\n    id = 1\n    def f(self): return id", "3:25", "class C:\n    id = 1\n    both = id, 2"),
        ("def f():\n    id = 1\nid(2)", "3:1", "def f():\n    global id\n    id = 1\nid"),
        ("lambda: eval", "1:9", "lambda eval: eval"),
        ("def f(x=id): id = 1", "1:9", "def f(x=1): id = 1"),
        ("if (x := 1): id", "1:14", "[(id := x) for x in ()]\nid"),
        ("try: pass\nexcept Exception as e: id", "2:24", "try: pass\nexcept Exception as id: id"),
        ("match 1:\n    case x: id", "2:13", "match 1:\n    case id: id"),
        ("hash('x')", "1:1", "class C:\n    def __hash__(self): return hash((self.a, self.b))"),
        ("().__class__.__base__", "1:1", "().__class__.__name__"),
        ("f.__globals__", "1:1", "f.__name__"),
        ("x.gi_frame", "1:1", "x.frame"),
        ("__builtins__", "1:1", "__name__"),
        ("match x:\n    case object(__globals__=g): pass", "2:10", "match x:\n    case object(real=g): pass"),
        ("class C:\n    __match_args__ = ('__globals__',)", "2:23", "class C:\n    __match_args__ = ('x',)"),
        ("class C:\n    def __del__(self): pass", "2:5", "class C:\n    def __eq__(self, o): return True"),
        ("class C:\n    __del__ = print", "2:5", "class C:\n    __repr__ = print"),
        ("def __hash__(x): return hash(x)", "1:25", "class C:\n    def __hash__(x): return hash(x)"),
        ("'x'.__hash__()", "1:1", "class C:\n    def __hash__(self): return super().__hash__()"),
        ("class C:\n    h = str.__hash__", "2:9", "class C:\n    __hash__ = str.__hash__"),
        ("__package__", "1:1", "__debug__"),
        ("é = 1; open", "1:8", "é = 1; é"),
        ("raise SystemExit", "1:7", "raise ValueError"),
    ],
)
def test_findings(refused: str, place: str, allowed: str) -> None:
    assert places(refused) == [place]
    assert places(allowed) == []


def test_all_findings_at_once_in_the_order_of_the_text() -> None:
    text = "import os\nimport json\n\ndef transform(sources):\n    open('a'); eval('b')\n    import time\n"
    assert places(text) == ["1:1", "5:5", "5:16", "6:5"]
    assert all(finding.refused for finding in check_python("t.py", text).findings)


def test_hints_lead_on() -> None:
    (found,) = check_python("t.py", "from datetime import date").findings
    assert "datetime" in found.fault.message
    assert found.fault.hint is not None
    assert "source" in found.fault.hint
    (found,) = check_python("t.py", "import helpers").findings
    assert found.fault.hint is not None
    assert "from . import helpers" in found.fault.hint


def test_blocks_that_an_import_never_runs_are_not_looked_at() -> None:
    """Scripts keep their `main`; type checkers keep their imports. What hides elsewhere is found."""
    assert places("if __name__ == '__main__':\n    import sys\n    print(open(sys.argv[1]).read())") == []
    assert places("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from os import PathLike") == []
    assert places("if __name__ == '__main__':\n    pass\nelse:\n    import sys") == ["4:5"]
    assert places("if __name__ != '__main__':\n    import sys") == ["2:5"]


@pytest.mark.parametrize(
    ("text", "place"),
    [("def f(:\n", "1:7"), ("x = (\n", "1:5"), ("a\0b", "1:2"), ("# coding: latin-1\n", "1:1")],
)
def test_text_that_is_no_python_is_broken_not_refused(text: str, place: str) -> None:
    (found,) = check_python("t.py", text).findings
    assert found.fault.place == f"t.py:{place}"
    assert not found.refused


@pytest.mark.parametrize("text", ["(" * 5000 + ")" * 5000, "-" * 50_000 + "1", "[" * 300 + "]" * 300])
def test_deep_nesting_is_a_finding_not_a_crash(text: str) -> None:
    """The parser's own limits (MAXSTACK, 200 parentheses, recursion) end in one finding."""
    (found,) = check_python("t.py", text).findings
    assert not found.refused


def test_long_chains_are_read() -> None:
    assert places(" + ".join(["'x'"] * 800)) == []
    assert places(" + ".join(["'x'"] * 800 + ["id"])) != []


def test_a_byte_order_mark_does_not_move_places() -> None:
    assert places("\ufeffimport os") == ["1:1"]


def test_allowed_modules_exist_and_refused_builtins_too() -> None:
    """The tables name real things: asked of a fresh interpreter."""
    code = "import importlib, builtins, sys\n"
    code += "".join(f"importlib.import_module({name!r})\n" for name in LIBRARY)
    code += f"print([n for n in {sorted(REFUSED_BUILTINS)!r} if not n.startswith('__') and not hasattr(builtins, n)])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"
    for module, names in LIBRARY.items():
        real = __import__(module, fromlist=["x"])
        assert [name for name in names if not hasattr(real, name)] == []
    # `hash` is there for `__hash__` methods.
    assert set(BUILTINS) & set(REFUSED_BUILTINS) == {"hash"}


FILES = {
    "t/index.py": "from .helpers import tag\nfrom .lib import deep, other\nfrom . import pack\nimport json\nname = 't'",
    "t/helpers.py": "def tag(s): return s",
    "t/lib/deep.py": "from ..helpers import tag",
    "t/lib/other/__init__.py": "from .inner import x",
    "t/lib/other/inner.py": "x = 1",
    "t/pack/__init__.py": "",
}


def test_graph() -> None:
    graph = load_python_graph(MemoryTree(FILES), "t/index.py")
    assert list(graph.modules) == sorted(FILES)
    assert graph.language == "python"
    assert graph.links == {
        ("t/index.py", ".helpers"): "t/helpers.py",
        ("t/index.py", ".lib.deep"): "t/lib/deep.py",
        ("t/index.py", ".lib.other"): "t/lib/other/__init__.py",
        ("t/index.py", ".pack"): "t/pack/__init__.py",
        ("t/index.py", "json"): "python:json",
        ("t/lib/deep.py", "..helpers"): "t/helpers.py",
        ("t/lib/other/__init__.py", "."): "t/lib/other/__init__.py",
        ("t/lib/other/__init__.py", ".inner"): "t/lib/other/inner.py",
    }


def test_digest_of_a_module_is_of_its_raw_bytes() -> None:
    data = "\ufeffname = 't'\r\n".encode()
    graph = load_python_graph(MemoryTree({"t.py": data}), "t.py")
    said = subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout.decode()
    assert graph.modules["t.py"].sha256 == said.split()[0]
    assert graph.modules["t.py"].text == "name = 't'\r\n"


@pytest.mark.parametrize("text", ["from ..x import y", "from ...x import y", "from .. import y", "from .... import y"])
def test_imports_above_the_repository_are_refused(text: str) -> None:
    with pytest.raises(ModuleRefusedError, match="leaves the repository"):
        load_python_graph(MemoryTree({"t.py": text, "x.py": "y = 1", "y.py": ""}), "t.py")


def test_imports_of_nothing_are_broken_and_all_listed() -> None:
    files = {"a/t.py": "from .x import y\nfrom . import z\nfrom ..b import c", "b/__init__.py": ""}
    with pytest.raises(ModuleBrokenError) as caught:
        load_python_graph(MemoryTree(files), "a/t.py")
    assert [fault.place for fault in caught.value.faults] == ["a/t.py:1:1", "a/t.py:2:1"]
    assert caught.value.faults[0].expected == "a/x.py or a/x/y.py"


def test_findings_of_every_module_are_listed() -> None:
    files = {"t.py": "import os\nfrom . import a, b", "a.py": "open", "b.py": "def f(:"}
    with pytest.raises(ModuleRefusedError) as caught:
        load_python_graph(MemoryTree(files), "t.py")
    assert [fault.place for fault in caught.value.faults] == ["a.py:1:1", "b.py:1:7", "t.py:1:1"]


def test_a_module_that_is_not_utf8_is_broken() -> None:
    with pytest.raises(ModuleBrokenError, match="offset 4"):
        load_python_graph(MemoryTree({"t.py": b"x = \xff"}), "t.py")


def test_a_missing_entry_is_bad_input() -> None:
    with pytest.raises(BadInputError):
        load_python_graph(MemoryTree({"other.py": ""}), "t.py")


def test_the_reference_lists_the_modules() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "python-transformers.md"
    listed = page.read_text(encoding="utf-8").partition("<!-- modules -->")[2].partition("<!-- end -->")[0]
    assert re.findall(r"`([^`]+)`", listed) == sorted(LIBRARY)
