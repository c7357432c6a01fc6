"""Proofs of single cases by RFC 6962 alone; sealed private parts; the limits of a release."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.releases import (
    SUMS,
    WORDS,
    add_release,
    benchmark,
    case,
    graded_eval,
    transformed_eval,
)
from trunchbuild.core.checks import CheckReport
from trunchbuild.core.ids import CaseId, Digest, ReleaseId
from trunchbuild.core.proof import check_proof, read_proof
from trunchbuild.core.seal import checked_key
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.errors import BadInputError, ExitCode
from trunchbuild.flows.build import CaseCountError, CaseSizeError, SealError
from trunchbuild.flows.check_release import Claim, check_release
from trunchbuild.flows.prove import find_case, prove_case


class TestProof:
    def proven(self, store: DiskStore, release: ReleaseId) -> Iterator[tuple[str, dict[str, object], str]]:
        manifest = json.loads(store.open(release).manifest_bytes)
        root_of = {entry["path"]: entry.get("merkleRoot") for entry in manifest["files"]}
        for one in (*SUMS, *WORDS):
            eval_id = "sums" if one in SUMS else "words"
            for private in (False, True):
                proof = prove_case(store.open(release), CaseId(eval_id, one.id), private=private)
                value = json.loads(proof.canonical_bytes())
                yield (one.private if private else one.public).decode(), value, root_of[value["file"]]

    def test_every_proof_leads_to_the_root_by_rfc_6962_alone(self, store: DiskStore, release: ReleaseId) -> None:
        """An independent reader: hashlib and the algorithm of RFC 9162, section 2.1.3.2."""
        count = 0
        for line, proof, expected in self.proven(store, release):
            count += 1
            assert proof["line"] == line
            assert proof["release"] == str(release)
            node, last = proof["index"], proof["lines"] - 1  # type: ignore[operator]
            digest = hashlib.sha256(b"\0" + line.encode()).digest()
            for step in proof["path"]:  # type: ignore[attr-defined]
                other = bytes.fromhex(step)
                if node % 2 or node == last:
                    digest = hashlib.sha256(b"\1" + other + digest).digest()
                    while node % 2 == 0 and node:
                        node, last = node // 2, last // 2
                else:
                    digest = hashlib.sha256(b"\1" + digest + other).digest()
                node, last = node // 2, last // 2
            assert digest.hex() == expected
        assert count == 10

    def test_every_edit_of_a_proof_is_found(self, store: DiskStore, release: ReleaseId) -> None:
        files = store.open(release)
        proof = prove_case(files, CaseId("sums", "add-2"))
        edits = {
            "release": replace(proof, release=Digest("0" * 64)),
            "file": replace(proof, file="private.jsonl"),
            "index": replace(proof, index=0),
            "lines": replace(proof, lines=6),
            "line": replace(proof, line=proof.line.replace(b"2 + 2", b"2 + 3")),
            "path": replace(proof, path=proof.path[:-1]),
            "order": replace(proof, path=tuple(reversed(proof.path))),
        }
        outcome = {name: self.outcome(one, files) for name, one in edits.items()}
        assert set(outcome.values()) == {"no"}
        assert self.outcome(proof, files) == "yes"

    def outcome(self, proof, files) -> str:
        read = read_proof(proof.canonical_bytes(), "proof.json")
        assert read == proof
        return CheckReport("p", None, check_proof(read, files.manifest, files.digest)).outcome

    def test_without_the_manifest_a_proof_stays_open(self, store: DiskStore, release: ReleaseId) -> None:
        proof = prove_case(store.open(release), CaseId("words", "w/1"))
        assert CheckReport("p", None, check_proof(proof, None, None)).exit_code == ExitCode.MACHINE

    def test_an_unknown_case_is_an_error(self, store: DiskStore, release: ReleaseId) -> None:
        with pytest.raises(BadInputError, match="no such case"):
            prove_case(store.open(release), CaseId("sums", "add-9"))
        with pytest.raises(BadInputError, match="no such eval"):
            find_case(store.open(release), CaseId("products", "add-1"))


KEY = bytes(range(32))


class TestSeal:
    def test_the_salt_is_the_stated_hmac(self, store: DiskStore) -> None:
        sealed = add_release(store, benchmark(transformed_eval()), seal_key=KEY)
        lines = [json.loads(line) for line in store.open(sealed).lines("private.jsonl")]
        for one, line in zip(SUMS, lines, strict=True):
            message = b"trunchbuild.salt/v1\0sums\0" + one.id.encode() + b"\0" + hashlib.sha256(one.private).digest()
            assert line["salt"] == hmac.new(KEY, message, "sha256").hexdigest()
            assert {name: line[name] for name in line if name != "salt"} == json.loads(one.private)

    def test_the_key_decides_the_digest(self, store: DiskStore) -> None:
        """Same key, same release; another key or none, another release; the questions stay the same."""
        loaded = lambda: benchmark(transformed_eval())  # noqa: E731
        first, again = add_release(store, loaded(), seal_key=KEY), add_release(store, loaded(), seal_key=KEY)
        other, none = add_release(store, loaded(), seal_key=KEY[::-1]), add_release(store, loaded())
        assert first == again
        assert len({first, other, none}) == 3
        public = {store.open(one).manifest.file("cases.jsonl").sha256 for one in (first, other, none)}
        assert len(public) == 1

    def test_a_sealed_release_verifies(self, store: DiskStore) -> None:
        sealed = add_release(store, benchmark(transformed_eval()), seal_key=KEY)
        checks, found = check_release(store.open_raw(sealed), [Claim(sealed, "x")], None)
        assert {check.outcome for check in checks} == {"yes"}
        assert found.lines is not None
        assert found.lines.sealed is True

    def test_modules_that_hold_cases_are_refused(self, store: DiskStore) -> None:
        telling = replace(graded_eval(), run_modules=("evals/words.js", "evaluators/half.js"))
        with pytest.raises(SealError) as caught:
            add_release(store, benchmark(telling), seal_key=KEY)
        assert caught.value.faults[0].place == "evals/words.js"
        add_release(store, benchmark(graded_eval()), seal_key=KEY)

    def test_modules_that_are_sources_are_refused(self, store: DiskStore) -> None:
        telling = replace(transformed_eval(), run_modules=("data/cases.jsonl",))
        with pytest.raises(SealError, match="source `cases`"):
            add_release(store, benchmark(telling), seal_key=KEY, modules={"data/cases.jsonl": ""})

    def test_a_short_key_is_refused(self) -> None:
        with pytest.raises(BadInputError, match="too short"):
            checked_key(b"x" * 15, "key")
        assert checked_key(b"x" * 16, "key") == b"x" * 16


class TestCounts:
    def test_a_case_that_no_reader_would_take_is_refused(self, store: DiskStore) -> None:
        """64 MiB is what a source may hold at most."""
        rest = len(case("sums", "c", "").public)

        def release(size: int):
            return add_release(store, benchmark(transformed_eval([case("sums", "c", "x" * (size - rest))])))

        with pytest.raises(CaseSizeError) as caught:
            release((64 << 20) + 1)
        assert caught.value.faults[0].place == "case sums/c"
        assert [len(line) for line in store.open(release(64 << 20)).lines("cases.jsonl")] == [64 << 20]

    def test_an_eval_without_cases_is_refused(self, store: DiskStore) -> None:
        with pytest.raises(CaseCountError):
            add_release(store, benchmark(transformed_eval([])))

    def test_one_case_more_than_the_contract_allows_is_refused(self, store: DiskStore) -> None:
        def many(count: int) -> Iterator:  # type: ignore[type-arg]
            return (case("sums", f"c{number}", "?") for number in range(count))

        with pytest.raises(CaseCountError):
            add_release(store, benchmark(transformed_eval(many(24_999)), graded_eval()))
        kept = add_release(store, benchmark(transformed_eval(many(24_998)), graded_eval()))
        assert store.open(kept).manifest.case_count == 25_000
