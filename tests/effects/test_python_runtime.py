"""Python transformers, run for real: twice, confined."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.fakes.trees import MemoryTree
from tests.support.shared_data import COMMITTED, shared_data
from trunchbuild.core.confinement import Limits, Sandbox
from trunchbuild.core.modules import ModuleRefusedError
from trunchbuild.core.resolve_python import load_python_graph
from trunchbuild.effects.runtime._python import python_versions, transform_python
from trunchbuild.effects.runtime._python_layout import probe_request
from trunchbuild.effects.runtime.api import GuestError, GuestLimitError, SourceText, TransformDiffersError
from trunchbuild.effects.sandbox._bubblewrap import wheel_bubblewrap
from trunchbuild.effects.sandbox._confined import ConfinedSandbox
from trunchbuild.errors import TrunchbuildError

LIMITS = Limits(wall_seconds=30.0, cpu_seconds=20, address_space_bytes=1 << 30)


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return ConfinedSandbox([wheel_bubblewrap()], probe_request())


def source(path: str, data: bytes) -> SourceText:
    return SourceText(path, data.decode(), hashlib.sha256(data).hexdigest())


def transform(
    sandbox: Sandbox,
    files: str | Mapping[str, str],
    sources: Mapping[str, SourceText] | None = None,
    limits: Limits = LIMITS,
) -> bytes:
    """The JSON lines that come out of `t.py`."""
    tree = MemoryTree({"t.py": files} if isinstance(files, str) else files)
    done = transform_python(sandbox, load_python_graph(tree, "t.py"), sources or {}, limits)
    with done.jsonl as file:
        data = file.read()
    assert (
        done.sha256 == subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout[:64].decode()
    )
    assert done.count == data.count(b"\n")
    return data


def body(*lines: str, head: str = "") -> str:
    """A transformer whose function holds the lines."""
    inner = "\n".join(f"    {line}" for line in "\n".join(lines).split("\n"))
    return f"{head}\nname = 't'\n\ndef transform(sources):\n{inner}\n"


def returning(expression: str, head: str = "") -> str:
    """A transformer with one case whose member `v` is the expression; it stands in line 5."""
    return body(f"return [{{'id': 'a', 'v': {expression}}}]", head=head)


def failure(sandbox: Sandbox, files: str | Mapping[str, str], limits: Limits = LIMITS) -> TrunchbuildError:
    with pytest.raises(TrunchbuildError) as caught:
        transform(sandbox, files, limits=limits)
    return caught.value


GSM8K = """
import json

name = "gsm8k"


def transform(sources):
    cases = []
    for split in ("train", "test"):
        if split not in sources:
            continue
        for number, line in enumerate(sources[split]["content"].rstrip("\\n").split("\\n"), 1):
            row = json.loads(line)
            cases.append({
                "id": f"{split}-row-{number}",
                "prompt": row["question"],
                "description": f"GSM8K {split} split mathematics problem.",
                "evaluate": {"kind": "gsm8k", "expected": row["answer"].split("#### ")[1].replace(",", "")},
            })
    return cases
"""


def test_gsm8k_whole(sandbox: Sandbox) -> None:
    """The digest that the JavaScript transformer of the contract gives on the same data."""
    folder = shared_data("gsm8k")
    sources = {name: source(f"{name}.jsonl", (folder / f"{name}.jsonl").read_bytes()) for name in ("train", "test")}
    data = transform(sandbox, GSM8K, sources)
    assert hashlib.sha256(data).hexdigest() == "c7a5ab65f0e1d78c6e56499488e4fdaac8f9ed6fc9b2e0b19d8b46e02b03dae4"
    assert data.count(b"\n") == 8792


def test_gsm8k_rows(sandbox: Sandbox) -> None:
    """The committed rows, against what jq makes of them."""
    path = COMMITTED / "gsm8k" / "test-rows.jsonl"
    program = (
        '{id: "test-row-\\(input_line_number)", prompt: .question,'
        ' description: "GSM8K test split mathematics problem.",'
        ' evaluate: {kind: "gsm8k", expected: (.answer | split("#### ")[1] | gsub(","; ""))}}'
    )
    expected = subprocess.run(["jq", "-c", program, str(path)], capture_output=True, check=True).stdout
    assert transform(sandbox, GSM8K, {"test": source("test.jsonl", path.read_bytes())}) == expected


# ---- what depends on an order that nobody defined ----

PAIR = "{'alpha', 'beta'}"


@pytest.mark.parametrize(
    "expression",
    [
        f"list({PAIR})",
        f"[x for x in {PAIR}]",
        f"','.join({PAIR})",
        f"str({PAIR})",
        f'f"{{ {PAIR} }}"',
        f"'%s' % {PAIR}",
        f"[*{PAIR}]",
        f"dict.fromkeys({PAIR})",
        f"next(iter({PAIR}))",
        f"{PAIR}.pop()",
        f"list(frozenset({PAIR}))",
        f"list({{x for x in {PAIR}}})",
        f"list(set(list({PAIR})))",
        f"list({PAIR} | {{'alpha'}})",
        f"list({PAIR}.union(['beta']))",
        "list({'alpha': 1, 'beta': 2}.keys() & {'alpha': 1, 'beta': 2}.keys())",
        "list({'alpha': 1, 'beta': 2}.items() - set())[0][0]",
        f"list(map(str, {PAIR}))",
        f"sorted({PAIR}, key=lambda x: 0)",
        f"max({PAIR}, key=lambda x: 0)",
        "list({1, 2})",
        "list({(1, 'a'), (1, 'b')})[0][1]",
        "[len(x) for x in {frozenset('a'), frozenset('bc')}]",
        "list({None, 'a'})[0]",
        "list(ast.literal_eval(\"{'a', 'b'}\"))",
        "list(copy.deepcopy({'a', 'b'}))",
        "functools.reduce(lambda a, b: a + b, {'a', 'b'})",
        "[p.x for p in {P(1), P(2)}]",
        "[c.name for c in {C.A, C.B}]",
    ],
)
def test_order_of_two_elements_is_caught_every_time(sandbox: Sandbox, expression: str) -> None:
    """Two hash seeds would agree on half of these; the message names the line."""
    head = (
        "import ast, copy, enum, functools; from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\nclass P:\n    x: int\n"
        "class C(enum.Enum):\n    A = 1\n    B = 2"
    )
    error = failure(sandbox, returning(expression, head))
    assert isinstance(error, TransformDiffersError), error
    assert error.exit_code == 1
    assert any("t.py:11: takes elements out of a set" in str(fault.hint) for fault in error.faults), error.faults


def test_sets_whose_order_does_not_show_are_fine(sandbox: Sandbox) -> None:
    """Membership, size, equality, sorting, algebra; and they are sets to the author's code."""
    lines = """
s = {'b', 'a'} | {'c'}
k = {'x': 1, 'y': 2}.keys() - {'x'}
t = frozenset(s)
s.discard('c')
s |= {'d'}
s -= {'d'}
v = [sorted(s), len(s), 'a' in s, s == {'a', 'b'}, sorted(k), isinstance(s, set), isinstance(k, set),
     isinstance(t, frozenset), sorted(t, reverse=True), min(s), max(t), sum({1, 2, 3}), {'a'} < s, s.isdisjoint(k),
     sorted({n % 3 for n in range(9)}), list({'only'}), {'only'}.pop(), repr({1}), str(set()), repr(frozenset()),
     any(x == 'a' for x in s), set() or 1, {frozenset('ab'): 1}[frozenset('ba')], type(s).__name__, 7 - 4, 6 & 3,
     sorted(set.union(s, t)), sorted(s ^ t), {1: 2} | {3: 4} == {1: 2, 3: 4}]
return [{'id': 'a', 'v': v}]
"""
    value = json.loads(transform(sandbox, body(lines)))["v"]
    assert value == [
        ["a", "b"], 2, True, True, ["y"], True, True, True, ["c", "b", "a"], "a", "c", 6, True, True,
        [0, 1, 2], ["only"], "only", "{1}", "set()", "frozenset()", True, 1, 1, "set", 3, 2,
        ["a", "b", "c"], ["c"], True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "expression",
    [
        "repr(object())",
        "f'{transform}'",
        "'{}'.format(object())",
        "str([object()])",
        "str(C())",
    ],
)
def test_addresses_are_caught(sandbox: Sandbox, expression: str) -> None:
    assert isinstance(failure(sandbox, returning(expression, "class C: pass")), TransformDiffersError)


@pytest.mark.parametrize(
    "expression",
    [
        "[c.n for c in sorted([C(1), C(2)], key=repr)]",
        "[c.n for c in sorted([C(n) for n in range(50)], key=str)]",
        "(lambda a, b: repr(a) < repr(b))(object(), object())",
        "(lambda a, b: repr(a) < repr(b))(lambda: 1, lambda: 2)",
        "[c.n for c in sorted(MADE_EARLY, key=repr)]",
    ],
)
def test_the_order_of_addresses_is_caught(sandbox: Sandbox, expression: str) -> None:
    """No address shows in these results, only which one is smaller."""
    head = "class C:\n    def __init__(self, n): self.n = n\nMADE_EARLY = [C(1), C(2)]"
    assert isinstance(failure(sandbox, returning(expression, head)), TransformDiffersError)


def test_random_numbers_need_a_seed(sandbox: Sandbox) -> None:
    """`random.Random(3).gauss(0, 1)`: Python's generator is the same on every machine."""
    head = "import statistics"
    refused = failure(sandbox, returning("statistics.NormalDist(0, 1).samples(1)[0] > 0", head))
    assert isinstance(refused, ModuleRefusedError)
    assert refused.faults[0].place == "t.py:5"
    seeded = json.loads(transform(sandbox, returning("statistics.NormalDist(0, 1).samples(2, seed=3)", head)))["v"]
    generator = random.Random(3)
    assert seeded == [generator.gauss(0, 1), generator.gauss(0, 1)]


def test_hashes_of_text_are_caught_where_they_are_allowed(sandbox: Sandbox) -> None:
    """`hash` may stand in a `__hash__` method; its value must not get into the result."""
    head = "class C:\n    seen = []\n    def __init__(self, x): self.x = x\n"
    head += "    def __hash__(self):\n        C.seen.append(hash(self.x))\n        return C.seen[-1]"
    caught = failure(sandbox, returning("[len({C('text')}), str(C.seen)]", head))
    assert isinstance(caught, TransformDiffersError)
    assert json.loads(transform(sandbox, returning("len({C('a'), C('b')})", head)))["v"] == 2


def test_depth_of_the_stack_is_caught(sandbox: Sandbox) -> None:
    lines = "def f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\nreturn [{'id': str(f(0))}]"
    assert isinstance(failure(sandbox, body(lines)), TransformDiffersError)


def test_differences_are_explained(sandbox: Sandbox) -> None:
    """Another order: the first position. Another value: case and field with both values."""
    order = failure(sandbox, body("return [{'id': x} for x in {'a', 'b', 'c'}]"))
    (fault,) = order.faults
    assert "same cases, different order: position 1" in fault.message
    assert (fault.expected, fault.got) == ("case a", "case c")
    value = failure(sandbox, body("return [{'id': 'x', 'data': {'n': [0, list({1, 2})[0]]}}, {'id': 'y'}]"))
    (fault,) = value.faults
    assert (fault.place, fault.expected, fault.got) == ("t.py case x /data/n/1", "1", "2")


def test_a_difference_in_the_name_is_caught(sandbox: Sandbox) -> None:
    text = "name = str({'a', 'b'})\ndef transform(sources):\n    return [{'id': 'a'}]"
    error = failure(sandbox, text)
    assert isinstance(error, TransformDiffersError)
    assert error.faults[0].place == "t.py name"


# ---- what is written ----


def test_values_are_written_as_ecmascript_writes_them(sandbox: Sandbox) -> None:
    """ECMA-262, JSON.stringify: numbers, keys, escapes."""
    expression = (
        "{'b': 1.0, '10': -0.0, '2': 1e21, 'a': 1e-7, '01': 0.1 + 0.2, '4294967295': 5e-324, '4294967294': 2 ** 53,"
        " 't': (1, None, True), 'i': 123456789012345680000, "
        " 's': '\\x00\\x1f\"\\\\/\\x7f\\u2028é😀\\n', 'e': [{}, [], '']}"
    )
    assert transform(sandbox, returning(expression)).decode() == (
        '{"id":"a","v":{"2":1e+21,"10":0,"4294967294":9007199254740992,"b":1,"a":1e-7,"01":0.30000000000000004,'
        '"4294967295":5e-324,"t":[1,null,true],"i":123456789012345680000,'
        '"s":"\\u0000\\u001f\\"\\\\/\x7f\u2028é😀\\n","e":[{},[],""]}}\n'
    )


def test_dicts_of_the_library_are_data(sandbox: Sandbox) -> None:
    head = "from collections import Counter, OrderedDict, defaultdict"
    expression = "[Counter('aab'), OrderedDict(z=1), defaultdict(list, k=[1])]"
    assert transform(sandbox, returning(expression, head)) == b'{"id":"a","v":[{"a":2,"b":1},{"z":1},{"k":[1]}]}\n'


def test_every_value_that_is_no_json_is_listed_with_its_pointer(sandbox: Sandbox) -> None:
    lines = """
loop = []; loop.append(loop)
deep = []
for _ in range(70): deep = [deep]
bad = {'nan': float('nan'), 'inf': -float('inf'), 'big': 2 ** 53 + 1, 'huge': 10 ** 400, 'set': {1}, 'bytes': b'',
       'a/b~c': object(), 'lone': '\\ud800', 'loop': loop, 'deep': deep, 'p': P(1), 'n': N(1), 'c': C.A, 1: 2}
return [{'id': 'ok'}, {'id': 'x', 'v': bad}, 'text', None]
"""
    head = (
        "import enum; from dataclasses import dataclass; from typing import NamedTuple\n"
        "@dataclass\nclass P:\n    x: int\n"
        "class N(NamedTuple):\n    x: int\nclass C(enum.IntEnum):\n    A = 1"
    )
    error = failure(sandbox, body(lines, head=head))
    assert isinstance(error, GuestError)
    assert error.exit_code == 3
    found = {fault.place.removeprefix("t.py "): fault.message for fault in error.faults}
    pointers = ["nan", "inf", "big", "huge", "set", "bytes", "a~1b~0c", "lone", "loop/0", "p", "n", "c", "1"]
    assert set(found) == {*(f"/1/v/{name}" for name in pointers), "/1/v/deep" + "/0" * 62, "/2", "/3"}
    assert "lone surrogate" in found["/1/v/lone"]
    assert "contains itself" in found["/1/v/loop/0"]
    assert "64 levels" in found["/1/v/deep" + "/0" * 62]


def test_depth_64_is_fine(sandbox: Sandbox) -> None:
    """The case itself is level 1."""
    lines = "deep = []\nfor _ in range({}): deep = [deep]\nreturn [{{'id': 'a', 'v': deep}}]"
    assert transform(sandbox, body(lines.format(62))).count(b"[") == 63
    assert isinstance(failure(sandbox, body(lines.format(63))), GuestError)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("(x for x in [{'id': 'a'}])", "a generator, not a list"),
        ("{'id': 'a'}", "a dict, not a list"),
        ("None", "a NoneType, not a list"),
        ("[{'id': str(i)} for i in range(25001)]", "25,001 cases"),
    ],
)
def test_results_that_are_no_list_of_cases(sandbox: Sandbox, result: str, words: str) -> None:
    error = failure(sandbox, body(f"return {result}"))
    assert isinstance(error, GuestError)
    assert words in str(error)


def test_25000_cases_and_none_are_fine(sandbox: Sandbox) -> None:
    assert transform(sandbox, body("return [{'id': str(i)} for i in range(25000)]")).count(b"\n") == 25000
    assert transform(sandbox, body("return []")) == b""


@pytest.mark.parametrize(
    "text",
    ["def transform(sources): return []", "name = 't'", "name = 3\ndef transform(sources): return []", "name = ''",
     "name = 't'\nasync def transform(sources): return []", "name = 't'\ntransform = 3"],
)  # fmt: skip
def test_modules_that_are_no_transformer(sandbox: Sandbox, text: str) -> None:
    error = failure(sandbox, text)
    assert type(error) is GuestError
    assert error.faults[0].place == "t.py"


# ---- how it fails ----


def test_an_exception_comes_with_the_authors_line(sandbox: Sandbox) -> None:
    error = failure(sandbox, body("rows = []", "raise ValueError('row 7 has no label')"))
    assert str(error) == "t.py:6:5: ValueError: row 7 has no label"


def test_a_transform_that_takes_no_sources_is_named(sandbox: Sandbox) -> None:
    error = failure(sandbox, "name = 't'\ndef transform(): return []")
    assert str(error) == "t.py: TypeError: transform() takes 0 positional arguments but 1 was given"


def test_an_exception_inside_the_library_names_the_line_that_called_it(sandbox: Sandbox) -> None:
    error = failure(sandbox, body("import json", "return json.loads('{')"))
    assert error.faults[0].place == "t.py:6:12"
    assert "JSONDecodeError" in error.message


def test_an_exception_in_an_imported_module_names_that_module(sandbox: Sandbox) -> None:
    files = {"t.py": "from .lib.rows import parse\nname = 't'\ndef transform(sources):\n    return parse({})"}
    files["lib/rows.py"] = "def parse(row):\n    return row['label']"
    assert str(failure(sandbox, files)) == "lib/rows.py:2:12: KeyError: 'label'"


def test_refusals_while_running_cannot_be_caught(sandbox: Sandbox) -> None:
    """What the static look cannot see is refused when it happens, and stays refused."""
    text = "class Text(str):\n    def show(self): return super().format(transform)"
    for attempt in (
        "getattr((), '__cl' + 'ass__')",
        "re.enum",
        "'{0.__globals__}'.format(transform)",
        "operator.attrgetter('__class__')(())",
        "getattr(str, 'for' + 'mat')('{0.__code__}', transform)",
        "setattr(re, 'match', None)",
        "getattr(type, 'm' + 'ro')",
        "operator.attrgetter('format')('{0.__code__}')(transform)",
        "Text('{0.__code__}').show()",
        "Text.format('{0.__code__}', transform)",
        "del re.match",
    ):
        lines = f"try:\n    {attempt}\nexcept BaseException:\n    pass\nreturn [{{'id': 'a'}}]"
        error = failure(sandbox, body(lines, head=f"import re, operator\n{text}"))
        assert isinstance(error, ModuleRefusedError), attempt
        assert error.faults[0].place == ("t.py:3" if "show" in attempt else "t.py:8"), attempt


def test_blocks_that_were_not_looked_at_never_run(sandbox: Sandbox) -> None:
    """Not even where the author makes their condition true."""
    for head in ("__name__ = '__main__'\nif __name__ == '__main__':", "TYPE_CHECKING = 1\nif TYPE_CHECKING:"):
        text = f"v = 'clean'\n{head}\n    v = ().__class__.__base__.__name__\n" + returning("v")
        assert json.loads(transform(sandbox, text))["v"] == "clean"


def test_harmless_twins_of_refusals_run(sandbox: Sandbox) -> None:
    lines = """
class C: n = 1
class Text(str):
    def show(self): return super().format(C())
class Own(str):
    def format(self, *values): return 'own'
values = [getattr(C(), 'n'), getattr(C, 'x', 2), hasattr(C, 'n'), '{0.n}'.format(C()), str.format('{}', 3),
          '{:>4}'.format('x'), operator.attrgetter('n')(C()), '{a[b]}'.format_map({'a': {'b': 4}}), 'a.{}'.format(5),
          operator.sub(3, 1), hasattr(re, 'nothing'), re.sub('a', 'b', 'aa'), __name__.split('.')[-1],
          Text('{0.n}').show(), Text.format('{}', 6), Own('{}').format(1), Own.format(1), __debug__]
setattr(C, 'n', 9)
return [{'id': 'a', 'v': values + [C.n]}]
"""
    value = json.loads(transform(sandbox, body(lines, head="import re, operator")))["v"]
    assert value == [1, 2, True, "1", "3", "   x", 1, "4", "a.5", 2, False, "bb", "t", "1", "6", "own", "own", True, 9]


def test_what_is_printed_is_no_result(sandbox: Sandbox) -> None:
    assert transform(sandbox, body('print(\'{"id":"forged"}\')', "return [{'id': 'real'}]")) == b'{"id":"real"}\n'


def test_sources_are_what_was_declared(sandbox: Sandbox) -> None:
    """Path, exact text with its byte order mark, digest; changing them changes nothing outside."""
    data = "\ufeffa\r\nb\u2028c\n".encode()
    lines = "row = sources['rows']\nout = [{'id': 'a', **row}]\nrow['content'] = ''\nreturn out"
    value = json.loads(transform(sandbox, body(lines), {"rows": source("data/rows.txt", data)}))
    digest = subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout[:64].decode()
    assert value == {"id": "a", "path": "data/rows.txt", "content": data.decode(), "sha256": digest}


def test_limits_are_named(sandbox: Sandbox) -> None:
    loop = failure(sandbox, body("while True: pass"), replace(LIMITS, wall_seconds=1.0))
    assert isinstance(loop, GuestLimitError)
    assert "longer than 1 s" in str(loop)
    cpu = failure(sandbox, body("while True: pass"), replace(LIMITS, cpu_seconds=1))
    assert isinstance(cpu, GuestLimitError)
    assert "CPU time" in str(cpu)
    memory = failure(sandbox, body("return 'x' * (2 << 30)"))
    assert isinstance(memory, GuestLimitError)
    assert "memory" in str(memory)
    output = failure(sandbox, body("return [{'id': 'x' * 3000000}]"), replace(LIMITS, output_bytes=2 << 20))
    assert isinstance(output, GuestLimitError)
    assert "2 MiB" in str(output)


def test_modules_import_each_other(sandbox: Sandbox) -> None:
    """Packages, siblings, aliases, stars and cycles work as in Python; a module runs once."""
    files = {
        "t.py": (
            "from . import a, pack\nfrom .a import value as v, helper\nfrom .pack import *\nfrom .pack.deep import up\n"
            "from .json import mine\nimport json\nname = 't'\n"
            "def transform(sources):\n"
            "    v2 = [starred, up, pack.count, mine, json.dumps(1)]\n"
            "    return [{'id': 'a', 'v': [v, helper(), a.value, *v2]}]"
        ),
        "a.py": "from . import b\nvalue = 1\ndef helper(): return b.twice()",
        "b.py": "from . import a\ndef twice(): return a.value * 2",
        "pack/__init__.py": "count = 0\ncount += 1\nstarred = 's'\n_hidden = 1\nfrom . import deep",
        "pack/deep.py": "from ..a import value as up",
        "json.py": "mine = 'own'",
    }
    assert json.loads(transform(sandbox, files))["v"] == [1, 2, 1, "s", 1, 1, "own", "1"]


def test_versions_name_python_and_its_unicode() -> None:
    said = subprocess.run(["python3", "--version"], capture_output=True, text=True, check=True).stdout
    assert set(python_versions()) == {"python", "python_unicode"}
    assert python_versions()["python"].split(".")[0] == said.split()[1].split(".")[0]
