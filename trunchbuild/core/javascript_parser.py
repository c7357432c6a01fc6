"""Syntax trees of JavaScript modules, by esprima2 with the gaps closed that real modules fall into.

Trees are in ESTree form (https://github.com/estree/estree); nodes of both parsers have their members as attributes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from trunchbuild.core.json_types import Json


class Unreadable(Exception):  # noqa: N818 - not an error by itself: another parser may read the text
    """This parser cannot read the text; `offset` is where, in code points from 0."""

    # No frozen dataclass: Python writes to an exception that passes through a context manager.
    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Tree:
    """A module's tree and how to find positions in its text."""

    text: str
    body: Any
    """The list of top-level statements."""
    utf16: bool
    """Whether nodes begin at `start`, in UTF-16 units (acorn), or at `range[0]`, in code points (esprima)."""


def parse_module(text: str) -> Tree:
    """Parse by esprima2.

    Raises:
        Unreadable: A syntax error, syntax that esprima2 does not know, or nesting beyond Python's recursion limit.
    """
    # Importing esprima2 takes 100 ms: only where a module has to be read.
    from trunchbuild.core import fast_esprima  # noqa: PLC0415

    try:
        return Tree(text, fast_esprima.parse(text), utf16=False)
    except fast_esprima.SyntaxProblem as problem:
        # esprima2 may count a character past the end.
        raise Unreadable(problem.message, min(max(problem.offset, 0), len(text))) from None
    except RecursionError:
        raise Unreadable("nested too deeply to be read", 0) from None
    except (AttributeError, TypeError, ValueError, IndexError, KeyError, AssertionError):
        # Broken text leads esprima2 into faults of its own; the other parser says what is wrong with it.
        raise Unreadable("cannot be read", 0) from None


def tree_of_nodes(text: str, nodes: Sequence[Json]) -> Tree:
    """A tree that another parser gave: its objects and lists one after the other, the program first.

    A member that is itself an object or a list is written `{"at": index}`: text of strangers may nest deeper than a
    JSON reader follows. Nodes are those of ESTree with `start` in UTF-16 units.
    """
    made: list[Any] = [[] if isinstance(node, list) else SimpleNamespace() for node in nodes]

    def value_of(member: Json) -> Any:
        return made[int(str(member["at"]))] if isinstance(member, Mapping) else member

    for node, whole in zip(nodes, made, strict=True):
        if isinstance(node, list):
            whole.extend(value_of(member) for member in node)
        elif isinstance(node, Mapping):
            vars(whole).update((key, value_of(member)) for key, member in node.items())
    return Tree(text, made[0].body, utf16=True)
