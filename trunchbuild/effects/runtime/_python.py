"""Runs Python transformers: the restricted guest of `guest/run.py`, twice, in the interpreter that also runs us."""

from __future__ import annotations

import marshal
import platform
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import IO, Any

from trunchbuild.core.confinement import Limits, Sandbox, SandboxRequest
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.python_library import BUILTINS, LIBRARY, REFUSED_ATTRIBUTES, SPECIAL_ATTRIBUTES, WITHHELD
from trunchbuild.core.resolve_python import LIBRARY_LINK
from trunchbuild.effects.runtime._explain import explain_cases
from trunchbuild.effects.runtime._python_layout import ENVIRONMENT, FLAGS, GUEST, GUEST_FOLDER, python_layout
from trunchbuild.effects.runtime._two_runs import (
    Answer,
    GuestRun,
    HeldBack,
    guest_input,
    insist_on_equal,
    run_once,
    run_twice,
    transformed,
)
from trunchbuild.effects.runtime.api import Look, SourceText, Transformed
from trunchbuild.errors import Fault

_GUEST_FILES = ("run.py", "_library.py", "_rewrite.py", "_sets.py", "_writer.py")

_HASH_SEEDS = ("0", "4242", "977")
"""Of the first, the second and the third run."""

_NAMES = (("first", "/work"), ("second", "/work-2"), ("third", "/work-3"))
"""Host name and working folder of each run."""

_SMALLER = 7 / 8
"""The other runs' share of the memory: a result that tells how much there was is not the same twice."""

_CAUSES = "usual causes: the address of an object in its text, hashes of text, how deep the stack is, a set's order"

LIMITS = Limits(wall_seconds=120.0, cpu_seconds=60, address_space_bytes=2 << 30, output_bytes=512 << 20)


def transform_python(
    sandbox: Sandbox,
    graph: ModuleGraph,
    sources: Mapping[str, SourceText],
    limits: Limits | None = None,
    look: Look | None = None,
) -> Transformed:
    """Run a Python transformer in two processes; `graph` has passed `load_python_graph`.

    The runs differ in hash seed, in the order of sets, in the depth of the stack, in addresses, in the pace of the
    garbage collector, in memory, in host name and in working folder. Ascending and descending leave the middle of a set
    of three where it is: if elements were taken out of such a set, a third run shows them in yet another order.

    Raises:
        TransformDiffersError, ModuleRefusedError, GuestLimitError, GuestError: As `Runtime.transform`.
    """
    request = _request(graph, sources)
    held_back = HeldBack(look)
    explain = partial(_explain, graph.entry)
    with ExitStack() as stack:

        def guest_run(number: int) -> GuestRun:
            # Each run has a file of its own: they share nothing through which they could agree.
            stdin = stack.enter_context(guest_input(marshal.dumps({**request, "run": number})))
            return GuestRun(_sandbox_request(number, limits or LIMITS), stdin, graph.entry)

        first = guest_run(0)
        answer = run_twice(sandbox, (first, guest_run(1)), explain, held_back)
        if _took_from_large_sets(answer):
            third = guest_run(2)
            with ExitStack() as failing:
                failing.callback(answer.body.close)
                other = run_once(sandbox, third)
                with other.body:
                    insist_on_equal(answer, other, (first, third), explain)
                failing.pop_all()
    held_back.tell(answer)
    return transformed(answer, graph.entry)


def _took_from_large_sets(answer: Answer) -> bool:
    largest = answer.header.fields.get("hint_largest_set") if answer.header is not None else None
    return isinstance(largest, int) and largest > 2


def _explain(entry: str, first: IO[bytes], second: IO[bytes], hints: Sequence[str]) -> Sequence[Fault]:
    return explain_cases(entry, first, second, hints or (_CAUSES,))


def python_versions() -> dict[str, str]:
    """What the result may depend on: the interpreter, and the Unicode tables that it holds."""
    return {"python": platform.python_version(), "python_unicode": unicodedata.unidata_version}


def _request(graph: ModuleGraph, sources: Mapping[str, SourceText]) -> dict[str, Any]:
    """What the guest reads, in the types that `marshal` knows: same interpreter, same format, nothing to parse."""
    library = {target.removeprefix(LIBRARY_LINK) for target in graph.links.values() if target.startswith(LIBRARY_LINK)}
    return {
        "entry": graph.entry,
        "modules": {path: module.text for path, module in graph.modules.items()},
        "links": {key: target for key, target in graph.links.items() if not target.startswith(LIBRARY_LINK)},
        "sources": {
            name: {"path": source.path, "content": source.content, "sha256": source.sha256}
            for name, source in sources.items()
        },
        "library": {name: LIBRARY[name] for name in sorted(library)},
        "withheld": dict(WITHHELD),
        "builtins": BUILTINS,
        "attributes": {"special": tuple(SPECIAL_ATTRIBUTES), "refused": tuple(REFUSED_ATTRIBUTES)},
    }


def _sandbox_request(number: int, limits: Limits) -> SandboxRequest:
    layout = python_layout()
    hostname, workdir = _NAMES[number]
    if number:
        limits = replace(limits, address_space_bytes=int(limits.address_space_bytes * _SMALLER))
    return SandboxRequest(
        (str(layout.program), *FLAGS, f"{GUEST}/run.py"),
        {**layout.read_only, **{GUEST_FOLDER / name: f"{GUEST}/{name}" for name in _GUEST_FILES}},
        {**ENVIRONMENT, "PYTHONHASHSEED": _HASH_SEEDS[number]},
        hostname=hostname,
        workdir=workdir,
        hidden=layout.hidden,
        limits=limits,
    )
