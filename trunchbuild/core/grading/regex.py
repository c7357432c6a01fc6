"""`regex@1`: the reply matches a pattern of RE2's syntax.

The engine is google-re2: no pattern and no reply takes more than linear time. `flags` holds any of `i` (ignore case),
`m` (`^` and `$` match at lines) and `s` (`.` matches a line feed); `match` "search" (the default) looks anywhere in the
reply, "full" wants all of it. The reply is taken as it is, without normalization.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from trunchbuild.core.grading.parameters import Kind, Problem, describe, non_empty_text, one_of
from trunchbuild.core.grading.verdict import RIGHT, Grader, Verdict, wrong
from trunchbuild.core.json_types import Json, JsonObject

_SYNTAX_HINT = "the syntax is RE2's: no look-around, no back references, repetition up to 1,000"


class _Pattern(Protocol):
    """The part of a compiled RE2 pattern that is used here."""

    def search(self, text: str) -> object | None: ...
    def fullmatch(self, text: str) -> object | None: ...


@lru_cache(maxsize=64)
def _compile(pattern: str, flags: str) -> _Pattern:
    import re2  # noqa: PLC0415 - only where a pattern is used

    options = re2.Options()
    options.log_errors = False
    compiled: _Pattern = re2.compile(f"(?{flags}){pattern}" if flags else pattern, options)
    return compiled


def _check_flags(value: Json) -> Problem | None:
    if type(value) is str and len(set(value)) == len(value) and set(value) <= set("ims"):
        return None
    return Problem("not a set of flags", 'any of "i", "m" and "s", each at most once', describe(value))


def _check_whole(specification: JsonObject) -> tuple[str, Problem] | None:
    import re2  # noqa: PLC0415

    pattern = str(specification["pattern"])
    try:
        _compile(pattern, str(specification.get("flags", "")))
    except re2.error as error:
        reason = error.args[0]
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        return "pattern", Problem(
            f"not a pattern that google-re2 takes ({said})", "a pattern", describe(pattern), hint=_SYNTAX_HINT
        )
    except UnicodeEncodeError:
        return "pattern", Problem("holds half of a surrogate pair", "Unicode text", "a lone surrogate")
    return None


def _make(specification: JsonObject) -> Grader:
    regexp = _compile(str(specification["pattern"]), str(specification.get("flags", "")))
    matcher = regexp.fullmatch if specification.get("match", "search") == "full" else regexp.search

    def grade(reply: str) -> Verdict:
        # A model's JSON can hold half of a surrogate pair, which UTF-8 cannot; it stands as U+FFFD here.
        encodable = reply.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return RIGHT if matcher(encodable) else wrong("the reply does not match the pattern")

    return grade


REGEX_1 = Kind(
    parameters={"pattern": non_empty_text, "flags": _check_flags, "match": one_of("search", "full")},
    required=frozenset({"pattern"}),
    make=_make,
    check_whole=_check_whole,
)
