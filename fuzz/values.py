"""Readers of JSON and of lines of JSON: from the strict reader itself to every file format."""

from __future__ import annotations

import json
import math
from functools import cache
from io import BytesIO

import rfc8785

from fuzz.errors import Reader
from fuzz.samples import sample
from trunchbuild.core.batch import parse_batch
from trunchbuild.core.benchmark import BenchmarkConfig, parse_config
from trunchbuild.core.canonical import canonical_bytes
from trunchbuild.core.cases import CaseChecker
from trunchbuild.core.ecmascript import stringify
from trunchbuild.core.eval_module import parse_eval
from trunchbuild.core.grading import check_specification, grader
from trunchbuild.core.ids import CaseId
from trunchbuild.core.imported import read_imported
from trunchbuild.core.json_types import Json
from trunchbuild.core.line_checks import check_lines
from trunchbuild.core.manifest import Manifest
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.private_case import PrivateCase
from trunchbuild.core.proof import check_proof, read_proof
from trunchbuild.core.provenance import read_provenance
from trunchbuild.core.public_case import PublicCase
from trunchbuild.core.recorded import read_replies, reply_line
from trunchbuild.core.results import read_results
from trunchbuild.core.run_spec import read_run_spec
from trunchbuild.core.strict_json import read_json, read_jsonl
from trunchbuild.core.survey import Survey
from trunchbuild.core.tool_module import parse_tool
from trunchbuild.effects.schemas._package import PackageSchemas

MAX_EXACT = 2**53


def strict_json(data: bytes) -> None:
    """Accepted text is JSON for Python's reader too, with the same value; canonical bytes read back as that value."""
    value = read_json(data, "input")
    text = data.decode("utf-8-sig")
    assert same(value, json.loads(text))
    assert same(read_json(stringify(value).encode("utf-8", "surrogatepass"), "again"), value)
    try:
        canonical = canonical_bytes(value)
    except Exception as error:
        if type(error).__module__.startswith("trunchbuild"):
            raise
        raise AssertionError(f"{value!r}: {error!r}") from error
    assert same(read_json(canonical, "canonical"), value)
    if is_plain(value):
        assert canonical == rfc8785.dumps(value)


def same(one: Json, other: object) -> bool:
    """Equal values; an integer and a float of the same value are equal, True and 1 are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return (list(one) == list(other) and all(same(one[key], other[key]) for key in one)) or (
            set(one) == set(other) and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) and isinstance(other, int):
        # Digits that ECMAScript prints for a double, which need not be the double's own value.
        return one == float(other)
    return one == other


def is_plain(value: Json) -> bool:
    """Whether RFC 8785 itself covers the value: integers within 2^53, no lone surrogates."""
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int):
        return abs(value) < MAX_EXACT
    if isinstance(value, float):
        return math.isfinite(value)
    return not any(0xD800 <= ord(character) < 0xE000 for character in value)


def json_lines(data: bytes) -> None:
    """Every accepted record stands on a line of its own; LF alone ends one."""
    found = list(read_jsonl(data, "input"))
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, value in found:
        assert same(value, json.loads(lines[number - 1]))
    assert len(found) == sum(bool(line.strip(b" \t\r")) for line in lines)


@cache
def _config() -> BenchmarkConfig:
    return parse_config(json.loads(sample("config")), "benchmark.config.json")


def config(data: bytes) -> None:
    parse_config(read_json(data, "benchmark.config.json"), "benchmark.config.json")


def eval_module(data: bytes) -> None:
    parse_eval(read_json(data, "evals/x.ts"), frozenset({"/evaluate"}), "evals/x.ts", _config())


def tool_module(data: bytes) -> None:
    parse_tool(read_json(data, "tools/x.ts"), frozenset({"/execute"}), "tools/x.ts")


def case(data: bytes) -> None:
    """A case that the fast check accepts follows the schema; one that it refuses is explained."""
    value = read_json(data, "cases.jsonl:1")
    checker = CaseChecker(None, lambda: PackageSchemas().read("case"))
    accepted = checker.check("cases.jsonl:1", value)
    assert (accepted is None) == bool(checker.faults)
    checker.finish("cases.jsonl")


def public_case(data: bytes) -> None:
    PublicCase.parse(data)


def private_case(data: bytes) -> None:
    PrivateCase.parse(data)


def manifest(data: bytes) -> None:
    """What is accepted is written back byte for byte."""
    assert canonical_bytes(read_manifest(data).json()) == data


def proof(data: bytes) -> None:
    found = read_proof(data, "proof.json")
    check_proof(found, _manifest(), found.release)
    assert read_proof(found.canonical_bytes(), "again") == found


@cache
def _manifest() -> Manifest:
    return read_manifest(sample("manifest"))


def provenance(data: bytes) -> None:
    assert read_provenance(data).canonical_bytes() == data


def run_spec(data: bytes) -> None:
    """The spec reads back from what it writes, and its id does not move."""
    spec = read_run_spec(read_json(data, "run.json"), "run.json")
    again = read_run_spec(read_json(spec.canonical_bytes(), "again"), "again")
    assert (again, again.run_id) == (spec, spec.run_id)


def results(data: bytes) -> None:
    """A row reads back from what it writes."""
    for _, row in read_results(BytesIO(data), "results.jsonl"):
        ((_, again),) = read_results([row.line()], "again")
        assert again == row


def replies(data: bytes) -> None:
    """A reply reads back from what it writes, with the same digest."""
    for _, reply in read_replies(BytesIO(data), "replies.jsonl"):
        ((_, again),) = read_replies([reply_line(reply)], "again")
        assert again.digest == reply.digest


def imported(data: bytes) -> None:
    known = [CaseId("sums", "a"), CaseId("sums", "b"), CaseId("other", "a")]
    read_imported(BytesIO(data), known, ["sums", "other"], "replies.jsonl")


def release_lines(data: bytes) -> None:
    """Two files of lines, parted by a NUL byte: whatever they hold, the checks end with a list of faults."""
    public, _, private = data.partition(b"\0")
    check_lines(_manifest(), BytesIO(public), BytesIO(private))
    check_lines(_manifest(), BytesIO(public), None)


def batch(data: bytes) -> None:
    parse_batch(read_json(data, "batch.json"), "batch.json")


def survey(data: bytes) -> None:
    """A remembered survey that cannot be read is an error that its reader knows, not a wrong survey."""
    try:
        found = Survey.from_json(read_json(data, "survey"))
    except (KeyError, TypeError, ValueError):
        return
    assert Survey.from_json(found.to_json()) == found


def specification(data: bytes) -> None:
    """Parameters, a line feed, a reply: what the check accepts grades every reply."""
    first, _, reply = data.partition(b"\n")
    value = read_json(first, "evaluate")
    if not isinstance(value, dict) or check_specification(value, "/evaluate"):
        return
    verdict = grader(value)(reply.decode("utf-8", "replace"))
    assert verdict.passed in (True, False)
    assert verdict.score is None or 0.0 <= verdict.score <= 1.0


READERS = (
    Reader("strict-json", strict_json, json=True),
    Reader("json-lines", json_lines, json=True),
    Reader("config", config, json=True),
    Reader("eval", eval_module, json=True),
    Reader("tool", tool_module, json=True),
    Reader("case", case, json=True),
    Reader("public-case", public_case, json=True),
    Reader("private-case", private_case, json=True),
    Reader("manifest", manifest, json=True, max_bytes=8192),
    Reader("proof", proof, json=True),
    Reader("provenance", provenance, json=True),
    Reader("run-spec", run_spec, json=True),
    Reader("results", results, json=True),
    Reader("replies", replies, json=True),
    Reader("imported-replies", imported, json=True),
    Reader("release-lines", release_lines, json=True),
    Reader("batch", batch, json=True),
    Reader("survey", survey, json=True),
    Reader("specification", specification, json=True),
)
