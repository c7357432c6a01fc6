"""The schemas of the file formats take what this build writes and reads, and refuse what its readers refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.batch import JobResult, parse_batch, report_json
from trunchbuild.core.benchmark import parse_config
from trunchbuild.core.case_settings import Limits, Tool
from trunchbuild.core.case_shape import follows_case_schema, follows_private_line, follows_public_line
from trunchbuild.core.cases import case_lines
from trunchbuild.core.eval_module import BuiltInEvaluator, EvalDefinition, InlineCases, parse_eval
from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import BenchmarkFacts, CustomEvaluator, FileRecord, SourceRecord, TransformerRecord
from trunchbuild.core.manifest import EvalEntry, EvaluatorUse, Manifest, ReleaseFile, SourceFacts
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.private_case import PrivateCase
from trunchbuild.core.proof import Proof, read_proof
from trunchbuild.core.provenance import Provenance
from trunchbuild.core.public_case import PublicCase
from trunchbuild.core.receipt import Receipt
from trunchbuild.core.schema_faults import SchemaFaults
from trunchbuild.core.strict_json import read_json
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import BadInputError

HEX = "0123456789abcdef" * 4


@cache
def schema(name: str) -> SchemaFaults:
    return SchemaFaults(PackageSchemas().read(name))


def record(path: str) -> FileRecord:
    return FileRecord(path, HEX, 3)


TRANSFORMER = TransformerRecord(
    "T", "t/index.ts", (record("t/index.ts"),), (SourceRecord("cases", record("data/cases.jsonl")),)
)
MANIFEST = Manifest(
    benchmark=BenchmarkFacts("Sums", "1.0.0", "d", "MIT", "https://example.org", ("a",)),
    source=SourceFacts("sha1", HEX[:40], HEX[:40], "benchmark.config.ts"),
    evals=(
        EvalEntry(
            "one",
            "One",
            record("evals/one.ts"),
            "transformer",
            2,
            (EvaluatorUse("exact@1", 2),),
            transformer=TRANSFORMER,
        ),
        EvalEntry(
            id="two",
            title="Two",
            module=record("evals/two.ts"),
            form="file",
            case_count=1,
            evaluators=(EvaluatorUse("custom@1", 1, "evaluators/x.ts", "default"),),
            description="",
            system_prompt="Be brief.",
            limits=Limits(1, 0, 5),
            tools={"look": Tool("Looks.", {"type": "object"}, "tools/look.ts")},
            case_file=record("data/two.jsonl"),
        ),
    ),
    files=(
        ReleaseFile("cases.jsonl", HEX, 10, 3, HEX),
        ReleaseFile("modules/evaluators/x.ts", HEX, 10),
        ReleaseFile("private.jsonl", HEX, 10, 3, HEX),
    ),
)
DEFINITION = EvalDefinition("evals/one.ts", "one", "One", InlineCases(()), BuiltInEvaluator({"kind": "non_empty@1"}))
CASE: JsonObject = {
    "id": "a",
    "prompt": "p",
    "tools": ["look"],
    "tags": {"a": [""]},
    "limits": {"maxSteps": 1},
    "sampling": {"seed": 0, "stop": ["x"], "temperature": 0.5},
    "sandbox": {"required": True},
    "fixtures": [],
    "evaluate": {"kind": "exact", "expected": "4"},
    "data": [1],
    "gold": "4",
}
LINES = case_lines(CASE, DEFINITION)
CUSTOM = case_lines(
    {"id": "a", "prompt": "p"},
    EvalDefinition("e.ts", "one", "One", InlineCases(()), CustomEvaluator("e.ts", "default.evaluate")),
)
CONFIG: JsonObject = {
    "protocolVersion": 1,
    "title": "Sums",
    "version": "1.0.0",
    "description": "",
    "license": "MIT",
    "homepage": "https://example.org",
    "tags": ["a"],
    "defaults": {"limits": {"maxSteps": 1}, "systemPrompt": "", "tools": {"look": "tools/look.ts"}},
    "evals": ["evals/one.ts"],
}
EVAL: JsonObject = {
    "id": "one",
    "title": "One",
    "description": "",
    "systemPrompt": "s",
    "tools": {"look": {"description": "d", "inputSchema": {}}},
    "limits": {"maxToolCalls": 0},
    "cases": {"transformer": "../t/index.ts", "sources": {"cases": "../data/cases.jsonl"}},
    "evaluate": {"kind": "exact", "expected": "4"},
}
BATCH: JsonObject = {
    "protocolVersion": 1,
    "jobs": [
        {
            "id": "a",
            "transformer": "t.ts",
            "sources": {"cases": "d.jsonl"},
            "output": "o.jsonl",
            "format": "jsonl",
            "expectedCaseCount": 3,
            "expectedSourceSha256": {"cases": HEX},
        }
    ],
}
DIGEST = Digest(HEX)
PROOF = Proof(DIGEST, "cases.jsonl", 0, 2, LINES.public, (HEX,))
BUILT = "2026-01-02T03:04:05Z"
PROVENANCE = Provenance(DIGEST, BUILT, "main", False, "https://example.org/x", "refs/heads/main", {"node": "24"})

DOCUMENTS: Mapping[str, JsonObject] = {
    "manifest": MANIFEST.json(),
    "cases-line": json.loads(LINES.public),
    "private-line": json.loads(LINES.private),
    "config": CONFIG,
    "eval": EVAL,
    "batch": BATCH,
    "batch-report": report_json("batch.json", [JobResult("a", "T", 3, "o.jsonl", "o.jsonl.manifest.json")]),
    "receipt": Receipt(TRANSFORMER, 2, "o.jsonl", "jsonl", HEX).json(),
    "proof": PROOF.json(),
    "provenance": PROVENANCE.json(),
    "case": CASE,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schemas_take_what_is_written(name: str) -> None:
    assert [str(fault) for fault in schema(name).of(DOCUMENTS[name], name)] == []


def test_other_forms_of_the_same_documents() -> None:
    assert schema("private-line").is_valid(json.loads(CUSTOM.private))
    assert schema("private-line").is_valid({**DOCUMENTS["private-line"], "salt": HEX})
    for cases in ([], [1], "x.json", "../data/x.jsonl"):
        assert schema("eval").is_valid({**EVAL, "cases": cases})
    custom = {"kind": "custom", "evaluatorKey": "x.ts#default", "sourcePath": "x.ts"}
    for evaluate in (None, custom):
        assert schema("eval").is_valid({**EVAL, "evaluate": evaluate})


def places(value: Json, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every member and item of a document."""
    found = [at] if at else []
    if isinstance(value, dict):
        return found + [place for key, item in value.items() for place in places(item, (*at, key))]
    if isinstance(value, list):
        return found + [place for index, item in enumerate(value) for place in places(item, (*at, index))]
    return found


REMOVE = object()


def changed(document: JsonObject, place: tuple[str | int, ...], value: object) -> Json:
    copy = json.loads(json.dumps(document))
    target = copy
    for step in place[:-1]:
        target = target[step]
    if value is REMOVE:
        del target[place[-1]]
    else:
        target[place[-1]] = value
    return copy  # type: ignore[no-any-return]


READERS: Mapping[str, Callable[[Json], object]] = {
    "manifest": lambda value: read_manifest(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()),
    "cases-line": lambda value: PublicCase.parse(json.dumps(value).encode()),
    "private-line": lambda value: PrivateCase.parse(json.dumps(value).encode()),
    "config": lambda value: parse_config(value, "benchmark.config.json"),
    "eval": lambda value: parse_eval(value, frozenset(), "evals/one.ts", parse_config(CONFIG, "benchmark.config.json")),
    "batch": lambda value: parse_batch(value, "batch.json"),
    "proof": lambda value: read_proof(json.dumps(value).encode(), "proof.json"),
}
OTHER = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        "",
        " ",
        "x",
        "a\n",
        "../x",
        "/x",
        "a.b/..",
        "a//b",
        "custom",
        "exact",
        "a#b",
        "a.ts#b.c",
        HEX,
        [],
        {},
        ["x"],
        {"other": 1},
        REMOVE,
    ]
)


def readable(name: str, value: Json) -> bool:
    try:
        READERS[name](value)
    except BadInputError:
        return False
    return True


@given(st.data())
def test_what_a_reader_takes_its_schema_takes(data: st.DataObject) -> None:
    """Readers may ask more than a schema can say (paths that stay inside, sorted lists), never less."""
    name = data.draw(st.sampled_from(sorted(READERS)))
    document = DOCUMENTS[name]
    value = changed(document, data.draw(st.sampled_from(places(document))), data.draw(OTHER))
    if readable(name, value):
        assert [str(fault) for fault in schema(name).of(value, name)] == []


SHAPES: Mapping[str, Callable[[Json], bool]] = {
    "case": follows_case_schema,
    "cases-line": follows_public_line,
    "private-line": follows_private_line,
}


@given(st.data())
def test_fast_checks_of_lines_agree_with_their_schemas(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(SHAPES)))
    document = {**DOCUMENTS[name], **data.draw(st.sampled_from(MORE[name]))}
    value = changed(document, data.draw(st.sampled_from(places(document))), data.draw(OTHER))
    assert SHAPES[name](value) == schema(name).is_valid(value)


MORE: Mapping[str, list[JsonObject]] = {
    "case": [{}],
    "cases-line": [{}],
    "private-line": [{}, {"salt": HEX}, {"evaluate": json.loads(CUSTOM.private)["evaluate"]}],
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_unknown_member_is_refused_and_named(name: str) -> None:
    [fault] = schema(name).of({**DOCUMENTS[name], "unknown": 1}, name)
    assert fault.place == f"{name} /unknown"


@pytest.mark.parametrize("name", sorted(set(DOCUMENTS) - {"case"}))
def test_every_required_member_is_needed(name: str) -> None:
    required = PackageSchemas().read(name)["required"]
    assert isinstance(required, list)
    for member in required:
        value = changed(DOCUMENTS[name], (str(member),), REMOVE)
        assert not schema(name).is_valid(value)
        assert name not in READERS or not readable(name, value)


def test_read_json_reads_what_is_written() -> None:
    assert read_json(LINES.public, "x") == DOCUMENTS["cases-line"]
