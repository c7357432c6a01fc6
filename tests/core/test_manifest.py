"""The manifest: canonical bytes, strict reading, and back again."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.case_settings import Limits, Tool
from trunchbuild.core.loaded import BenchmarkFacts, FileRecord, SourceRecord, TransformerRecord
from trunchbuild.core.manifest import EvalEntry, EvaluatorUse, Manifest, ReleaseFile, SourceFacts
from trunchbuild.core.manifest_reader import read_manifest
from trunchbuild.core.release import release_digest, release_name, release_version, shown, slug
from trunchbuild.core.tree_names import name_fault
from trunchbuild.errors import BadInputError

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
hex64 = st.text("0123456789abcdef", min_size=64, max_size=64)
hex40 = st.text("0123456789abcdef", min_size=40, max_size=40)
sizes = st.integers(0, 2**53 - 1)
part = st.text("abcxyzABC019._-äß日", min_size=1, max_size=8).filter(lambda name: name not in (".", "..", ".git"))
paths = st.lists(part, min_size=1, max_size=3).map("/".join)
records = st.builds(FileRecord, paths, hex64, sizes)
maybe_text = st.none() | text
limits = st.builds(
    Limits, st.none() | st.integers(1, 9999), st.none() | st.integers(0, 9999), st.none() | st.integers(1, 9999)
)
schemas = st.dictionaries(text, text | st.integers(-5, 5) | st.booleans() | st.none(), max_size=3)
tools = st.none() | st.dictionaries(text, st.builds(Tool, text, schemas, st.none() | paths), max_size=2)
line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).filter(lambda title: title.strip() != "")
version = st.from_regex(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}", fullmatch=True)
builtin = st.builds(EvaluatorUse, st.just("exact@1"), st.integers(1, 9))
own = st.builds(EvaluatorUse, st.just("custom@1"), st.integers(1, 9), paths, st.just("default"))
uses = st.tuples(own, builtin) | st.lists(builtin, max_size=2).map(tuple)
transformers = st.builds(
    TransformerRecord,
    text,
    paths,
    st.lists(records, max_size=2).map(tuple),
    st.lists(st.builds(SourceRecord, text, records), max_size=2).map(tuple),
)


@st.composite
def entries(draw: st.DrawFn, eval_id: str) -> EvalEntry:
    form = draw(st.sampled_from(["inline", "file", "transformer"]))
    return EvalEntry(
        id=eval_id,
        title=draw(line),
        module=draw(records),
        form=form,  # type: ignore[arg-type]
        case_count=draw(st.integers(1, 25_000)),
        evaluators=draw(uses),
        description=draw(maybe_text),
        system_prompt=draw(maybe_text),
        limits=draw(limits),
        tools=draw(tools),
        case_file=draw(records) if form == "file" else None,
        transformer=draw(transformers) if form == "transformer" else None,
    )


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    ids = draw(
        st.lists(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,9}", fullmatch=True), min_size=1, max_size=3, unique=True)
    )
    evals = tuple(draw(entries(eval_id)) for eval_id in ids)
    named = {use.module for entry in evals for use in entry.evaluators}
    named |= {tool.module for entry in evals for tool in (entry.tools or {}).values()}
    modules = {
        f"modules/{path}": ReleaseFile(f"modules/{path}", draw(hex64), draw(sizes))
        for path in sorted((draw(st.sets(paths)) | named) - {None})
    }
    jsonl = {
        path: ReleaseFile(path, draw(hex64), draw(sizes), draw(sizes), draw(hex64))
        for path in ("cases.jsonl", "private.jsonl")
    }
    files = {**modules, **jsonl}
    return Manifest(
        benchmark=BenchmarkFacts(
            draw(line),
            draw(version),
            draw(maybe_text),
            draw(maybe_text),
            draw(maybe_text),
            draw(st.lists(text).map(tuple)),
        ),
        source=SourceFacts("sha1", draw(hex40), draw(hex40), draw(paths)),
        evals=evals,
        files=tuple(files[path] for path in sorted(files)),
    )


@given(manifests())
def test_manifest_round_trip(manifest: Manifest) -> None:
    assert read_manifest(manifest.canonical_bytes()) == manifest


SMALL = Manifest(
    benchmark=BenchmarkFacts("Grüße & Zahlen", "1.2.0-beta.1+7"),
    source=SourceFacts("sha1", "a" * 40, "b" * 40, "bench/numbers/benchmark.config.ts"),
    evals=(EvalEntry("e", "E", FileRecord("e.ts", "c" * 64, 1), "inline", 1, (EvaluatorUse("exact@1", 1),)),),
    files=(
        ReleaseFile("cases.jsonl", "d" * 64, 10, 1, "e" * 64),
        ReleaseFile("modules/x.js", "f" * 64, 3),
        ReleaseFile("private.jsonl", "0" * 64, 10, 1, "1" * 64),
    ),
)


CUSTOM = {"kind": "custom@1", "cases": 1, "module": "x.js", "member": "default"}


@pytest.mark.parametrize("name", ["a?b", 'a"b', "a<b>|c", "*", "a\u00a0b", "a\u200bb", "a b", "ü😀", ".GITx", "a#b"])
def test_every_name_that_a_commit_may_hold_can_be_stated(name: str) -> None:
    """The rules are those of reading from a commit: what compiles is read again."""
    assert name_fault(name.encode()) is None
    record = FileRecord(f"data/{name}.jsonl", "c" * 64, 1)
    entry = replace(SMALL.evals[0], form="file", case_file=record, module=FileRecord(f"{name}/e.ts", "c" * 64, 1))
    manifest = replace(SMALL, evals=(entry,), source=replace(SMALL.source, config=f"{name}/benchmark.config.ts"))
    assert read_manifest(manifest.canonical_bytes()) == manifest


@pytest.mark.parametrize(
    "name", ["..", ".", "", ".git", ".GIT", "git~1", ".g\u200cit", ".git.", "a:b", "a\\b", "a\x1bb", "a\x9bb"]
)
def test_a_name_that_no_commit_may_hold_is_refused(name: str) -> None:
    assert name_fault(name.encode()) is not None
    with pytest.raises(BadInputError, match="/files/1/path"):
        read_manifest(changed(["files", 1, "path"], f"modules/{name}/x.js"))


def test_functions_that_stand_among_the_files_are_read() -> None:
    assert read_manifest(changed(["evals", 0, "evaluators"], [CUSTOM])).evals[0].evaluators[0].module == "x.js"
    tools = {"t": {"description": "", "inputSchema": {}, "module": "x.js"}}
    assert read_manifest(changed(["evals", 0, "tools"], tools)).evals[0].tools is not None


def test_the_digest_is_what_sha256sum_says_of_the_bytes() -> None:
    data = SMALL.canonical_bytes()
    said = subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout.split()[0].decode()
    assert release_digest(data).hex == said
    assert shown(SMALL, release_digest(data)) == f"grue-zahlen-1.2.0-beta.1+7-{said[:12]}"


def changed(path: list[str | int], value: object) -> bytes:
    """The small manifest with one value replaced, in canonical form again."""
    whole = json.loads(SMALL.canonical_bytes())
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def test_the_unchanged_twin_of_the_refused_ones_is_read() -> None:
    assert read_manifest(changed(["benchmark", "title"], SMALL.benchmark.title)) == SMALL


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["type"], "trunchbuild.release/v2", "/type"),
        (["protocolVersion"], 2, "/protocolVersion"),
        (["new"], 1, "/new"),
        (["benchmark", "title"], 1, "/benchmark/title"),
        (["benchmark", "title"], None, "/benchmark/title"),
        (["benchmark", "title"], " ", "/benchmark/title"),
        (["benchmark", "title"], "a\nyes: every check agrees", "/benchmark/title"),
        (["benchmark", "title"], "a\x1b[2J", "/benchmark/title"),
        (["benchmark", "title"], "a\x9b2J", "/benchmark/title"),
        (["benchmark", "version"], "", "/benchmark/version"),
        (["benchmark", "version"], "../../x", "/benchmark/version"),
        (["benchmark", "version"], "1" * 65, "/benchmark/version"),
        (["benchmark", "version"], "1.0\n", "/benchmark/version"),
        (["benchmark", "author"], "x", "/benchmark/author"),
        (["evals", 0, "title"], "a\nb", "/evals/0/title"),
        (["evals", 0, "evaluators", 0, "module"], "x.js", "/evals/0/evaluators/0/module"),
        (["evals", 0, "evaluators", 0, "kind"], "custom@1", "/evals/0/evaluators/0/module"),
        (["evals", 0, "evaluators"], [CUSTOM, CUSTOM], "/evals/0/evaluators"),
        (["evals", 0, "evaluators"], [{**CUSTOM, "module": "y.js"}], "/files"),
        (["evals", 0, "tools"], {"t": {"description": "", "inputSchema": {}, "module": "y.js"}}, "/files"),
        (["source", "commit"], "A" * 40, "/source/commit"),
        (["source", "commit"], "a" * 64, "/source/commit"),
        (["source", "objectFormat"], "md5", "/source/objectFormat"),
        (["source", "config"], "../benchmark.config.ts", "/source/config"),
        (["evals"], [], "/evals"),
        (["evals", 0, "id"], "Upper", "/evals/0/id"),
        (["evals", 0, "cases", "form"], "magic", "/evals/0/cases/form"),
        (["evals", 0, "cases", "count"], 0, "/evals/0/cases/count"),
        (["evals", 0, "cases", "count"], True, "/evals/0/cases/count"),
        (["evals", 0, "cases", "file"], {}, "/evals/0/cases/file"),
        (["evals", 0, "evaluators", 0, "kind"], "exact", "/evals/0/evaluators/0/kind"),
        (["evals", 0, "limits"], {"maxSteps": 0}, "/evals/0/limits/maxSteps"),
        (["files", 0, "sha256"], "D" * 64, "/files/0/sha256"),
        (["files", 0, "bytes"], -1, "/files/0/bytes"),
        (["files", 1, "path"], "modules/../x.js", "/files/1/path"),
        (["files", 1, "path"], "modules//x.js", "/files/1/path"),
        (["files", 1, "path"], "/etc/passwd", "/files/1/path"),
        (["files", 1, "path"], "modules/.git/config", "/files/1/path"),
        (["files", 1, "path"], "modules\\x.js", "/files/1/path"),
        (["files", 1, "path"], "other.txt", "/files"),
        (["files", 1, "path"], "cases.jsonl", "/files"),
        (["files", 1, "lines"], 3, "/files"),
        (["files", 1, "merkleRoot"], "a" * 64, "/files"),
        (["files", 2, "path"], "private.json", "/files"),
    ],
)
def test_what_does_not_follow_the_format_is_refused_with_its_place(
    path: list[str | int], value: object, place: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        read_manifest(changed(path, value))
    assert caught.value.faults[0].place == f"manifest.json{place}"


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(json.loads(SMALL.canonical_bytes())).encode(),
        SMALL.canonical_bytes() + b"\n",
        b"\xef\xbb\xbf" + SMALL.canonical_bytes(),
        SMALL.canonical_bytes().replace("ü".encode(), b"\\u00fc"),
        SMALL.canonical_bytes().replace(b'"bytes":10', b'"bytes":1e1'),
    ],
)
def test_the_same_values_in_other_bytes_are_no_manifest(data: bytes) -> None:
    """R112: what is hashed is what is read."""
    with pytest.raises(BadInputError, match="canonical"):
        read_manifest(data)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b'{"type":"x"}', b"\xff"])
def test_other_documents_are_refused(data: bytes) -> None:
    with pytest.raises(BadInputError):
        read_manifest(data)


@pytest.mark.parametrize(
    ("title", "config", "name"),
    [
        ("GSM8K", "benchmark.config.ts", "gsm8k"),
        ("  ARC: Challenge (easy)  ", "benchmark.config.ts", "arc-challenge-easy"),
        ("Ünïcödé", "benchmark.config.ts", "unicode"),
        ("算数", "benchmarks/Sansu 2/benchmark.config.ts", "sansu-2"),
        ("算数", "benchmark.config.ts", "benchmark"),
        ("a" * 63 + " b", "benchmark.config.ts", "a" * 63),
    ],
)
def test_a_name_comes_from_the_title_then_the_folder(title: str, config: str, name: str) -> None:
    facts = replace(SMALL.benchmark, title=title)
    assert release_name(replace(SMALL, benchmark=facts, source=replace(SMALL.source, config=config))) == name


@pytest.mark.parametrize(
    ("version", "safe"), [("1.0.0", "1.0.0"), ("1.0.0-rc.1+b_2", "1.0.0-rc.1+b_2"), ("../../x", "x"), ("é/", "0")]
)
def test_a_version_never_leaves_its_folder(version: str, safe: str) -> None:
    assert release_version(replace(SMALL, benchmark=replace(SMALL.benchmark, version=version))) == safe


@given(st.text())
def test_a_slug_is_a_safe_file_name(title: str) -> None:
    made = slug(title)
    assert len(made) <= 64
    assert made == "" or (made[0].isalnum() and made.replace("-", "").isalnum() and made.isascii())


def test_bytes_are_hashed_with_the_standard_library_too() -> None:
    data = SMALL.canonical_bytes()
    assert str(release_digest(data)) == "sha256:" + hashlib.sha256(data).hexdigest()
