"""What lies between a repository and a release may change, fail or be repacked: the digest is of contents and names."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers.git_http import GitHttpServer, serve
from tests.support.releases import export
from tests.support.repos import add_commit, git, make_repo, submodule
from tests.support.workshop import CASES, FixedClock, Workshop, jsonl
from trunchbuild.core.lockfile import LockConflictError, parse_lock
from trunchbuild.core.repo import RepoAddress
from trunchbuild.core.tree import LfsPointerError, NotAFileError
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.store._disk import DiskStore
from trunchbuild.errors import BadInputError, ExitCode
from trunchbuild.flows.compile import CompileOrder, CompileOutcome, CompileTools, compile_release
from trunchbuild.flows.from_commit import BuildOrder
from trunchbuild.flows.import_ import import_folder

OID = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 12345\n"
"""The example of git-lfs' own specification (docs/spec.md)."""
FILTERS = {"filter.lfs.clean": "git-lfs clean -- %f", "filter.lfs.smudge": "git-lfs smudge -- %f"}


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def compile_from(workshop: Workshop, address: str, revision: str = "main") -> CompileOutcome:
    order = CompileOrder(BuildOrder(RepoAddress.parse(address), revision), workshop.locks)
    return compile_release(
        order, CompileTools(workshop.build_tools, workshop.files, FixedClock(), lambda: "fake 1", "0.1.0")
    )


@pytest.fixture
def server(workshop: Workshop) -> Iterator[GitHttpServer]:
    """The repository and, beside it, an LFS endpoint whose quota is used up."""
    answers = {"batch": (429, "application/vnd.git-lfs+json", b'{"message":"quota"}')}
    with serve(workshop.folder, answer=answers) as running:
        yield running


@pytest.mark.parametrize("configured", [False, True])
def test_a_commit_means_the_same_whether_or_not_lfs_runs(workshop: Workshop, configured: bool) -> None:
    """R99: a pointer is refused by name, a blob is read as it is; the filter of the machine counts for neither."""
    add_commit(workshop.repo, {".gitattributes": "*.jsonl filter=lfs diff=lfs merge=lfs -text\n"})
    for name, command in FILTERS.items() if configured else ():
        git(workshop.repo, "config", name, command)
    release = workshop.compile().release
    bare = workshop.folder / "bare.git"
    git(workshop.folder, "clone", "--quiet", "--bare", str(workshop.repo), str(bare))
    assert compile_from(workshop, str(bare)).release == release
    add_commit(bare, {"data/cases.jsonl": POINTER})
    git(workshop.repo, "fetch", "--quiet", str(bare), "main:pointer")
    # What a smudged work tree would show.
    (workshop.repo / "data/cases.jsonl").write_text(jsonl(*CASES.values()))
    with pytest.raises(LfsPointerError) as caught:
        workshop.compile("pointer")
    assert (caught.value.faults[0].place, caught.value.faults[0].got) == ("data/cases.jsonl", f"sha256:{OID}")


def test_a_build_never_asks_an_lfs_server(workshop: Workshop, server: GitHttpServer) -> None:
    """R100: it stops and says which object is not there; a release that stands needs no server at all."""
    compiled = compile_from(workshop, server.url("repo"))
    add_commit(workshop.repo, {"data/cases.jsonl": POINTER})
    with pytest.raises(LfsPointerError, match=OID):
        compile_from(workshop, server.url("repo"))
    assert not [request for request in server.requests if "lfs" in request]
    requests = len(server.requests)
    report = workshop.verify(workshop.lock)
    assert (report.exit_code, report.digest) == (ExitCode.YES, str(compiled.release))
    assert len(server.requests) == requests


def test_submodules_in_submodules(tmp_path: Path) -> None:
    """R104: never an empty folder; where a copy is committed, it is read."""
    modules = '[submodule "data"]\n\tpath = data\n\turl = ../data.git\n'
    inner = make_repo(tmp_path / "data.git", {".gitmodules": modules, "data": submodule("1" * 40), "x": "x\n"})
    make_repo(tmp_path / "repo", {".gitmodules": modules, "data": submodule(inner), "copy/data.jsonl": "{}\n"})
    with DulwichGit().open(RepoAddress.parse(str(tmp_path / "repo")), "main") as tree:
        for path in ("data", "data/x", "data/data/data.jsonl"):
            with pytest.raises(NotAFileError, match="`data` is a submodule"):
                tree.read(path)
        assert list(tree.paths()) == [".gitmodules", "copy/data.jsonl"]
        assert tree.read("copy/data.jsonl") == b"{}\n"


def test_a_locked_commit_that_was_forced_away(workshop: Workshop) -> None:
    """R105: what was built still verifies from the store; building it again says what is missing."""
    locked = workshop.change(CASES["a"])
    release = workshop.compile().release
    git(workshop.repo, "reset", "--quiet", "--hard", workshop.commit)
    assert workshop.compile(locked, locked=True).release == release
    git(workshop.repo, "reflog", "expire", "--expire=now", "--all")
    git(workshop.repo, "gc", "--quiet", "--prune=now")
    report = workshop.verify(workshop.lock)
    assert (report.exit_code, report.digest) == (ExitCode.YES, str(release))
    with pytest.raises(BadInputError, match=locked):
        workshop.compile(locked, locked=True)


def test_lockfiles_merge(workshop: Workshop, tmp_path: Path) -> None:
    """R111: two branches that lock one benchmark each merge clean; two that lock one differently are told."""
    workshop.compile()
    text = workshop.lock.read_text()
    repo = tmp_path / "locks"
    make_repo(repo, {"README": "x\n"})
    for branch, name in (("one", "a"), ("two", "b")):
        git(repo, "branch", branch, "main")
        add_commit(repo, {f"lockfiles/{name}.lock.toml": text}, branch=branch)
    git(repo, "merge", "--quiet", "one")
    git(repo, "merge", "--quiet", "two")
    assert parse_lock((repo / "lockfiles/a.lock.toml").read_bytes(), "a") == parse_lock(text.encode(), "b")
    for branch, case in (("three", "a"), ("four", "b")):
        git(repo, "branch", branch, "main")
        workshop.change(CASES[case])
        workshop.compile(update=True)
        add_commit(repo, {"lockfiles/a.lock.toml": workshop.lock.read_text()}, branch=branch)
    git(repo, "merge", "--quiet", "three")
    with pytest.raises(RuntimeError):
        git(repo, "merge", "--quiet", "four")
    with pytest.raises(LockConflictError, match="merge conflict"):
        parse_lock((repo / "lockfiles/a.lock.toml").read_bytes(), "a.lock.toml")


def _packed(folder: Path, archive: Path, *, level: int, options: list[str]) -> Path:
    tar = subprocess.run(["tar", "-C", str(folder), *options, "-cf", "-", "."], capture_output=True, check=True)
    archive.write_bytes(
        subprocess.run(["gzip", f"-{level}", "-c"], input=tar.stdout, capture_output=True, check=True).stdout
    )
    unpacked = archive.with_suffix(".folder")
    unpacked.mkdir()
    subprocess.run(["tar", "-C", str(unpacked), "-xzf", str(archive)], check=True)
    return unpacked


def test_one_release_in_two_archives(workshop: Workshop, tmp_path: Path) -> None:
    """R108: other compression, times and owners, one digest; another byte, none."""
    release = workshop.compile().release
    folder = export(workshop.store, release, tmp_path / "out")
    plans = [(1, ["--mtime=@0", "--owner=0", "--group=0"]), (9, ["--mtime=@1000000000", "--owner=7", "--group=7"])]
    archives = [tmp_path / "one.tgz", tmp_path / "two.tgz"]
    for archive, (level, options) in zip(archives, plans, strict=True):
        unpacked = _packed(folder, archive, level=level, options=options)
        store = DiskStore(tmp_path / f"store-{level}")
        assert import_folder(unpacked, None, store=store).digest == str(release)
        assert store.releases() == [release]
    assert archives[0].read_bytes() != archives[1].read_bytes()
    cases = next(folder.rglob("*.jsonl"))
    cases.write_bytes(cases.read_bytes().replace(b"3", b"4", 1))
    unpacked = _packed(folder, tmp_path / "three.tgz", level=6, options=[])
    store = DiskStore(tmp_path / "store-altered")
    assert import_folder(unpacked, None, store=store).exit_code == ExitCode.NO
    assert store.releases() == []


@pytest.mark.parametrize("autocrlf", ["true", "false"])
def test_binary_files_and_crlf_blobs_build_to_the_recorded_digest(workshop: Workshop, autocrlf: str) -> None:
    """R120: in another clone too, whatever its checkout made of the files; other bytes are another release."""
    crlf = jsonl(*CASES.values()).replace("\n", "\r\n")
    commit = add_commit(workshop.repo, {"data/cases.jsonl": crlf, "data/image.bin": bytes(range(256)) * 40})
    release = workshop.compile(commit).release
    clone = workshop.folder / "clone"
    git(workshop.folder, "-c", f"core.autocrlf={autocrlf}", "clone", "--quiet", str(workshop.repo), str(clone))
    git(clone, "config", "core.autocrlf", autocrlf)
    order = CompileOrder(BuildOrder(RepoAddress.parse(str(clone)), commit), workshop.locks, locked=True)
    tools = CompileTools(workshop.build_tools, workshop.files, FixedClock(), lambda: "fake 1", "0.1.0")
    assert (compile_release(order, tools).status, compile_release(order, tools).release) == ("locked", release)
    other = add_commit(workshop.repo, {"data/cases.jsonl": crlf.replace("\r\n", "\n")})
    changed = replace(order, build=replace(order.build, address=workshop.address, revision=other))
    assert compile_release(changed, tools).status == "differs"


def test_an_installation_of_the_lock_is_one_set_of_versions() -> None:
    """R120: each requirement names one version and the digests of its archives."""
    text = (Path(__file__).parents[2] / "locks/runtime.txt").read_text()
    joined = re.sub(r"\\\n\s*", "", text)
    lines = [line for line in joined.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(lines) > 5
    pinned = re.compile(r"[A-Za-z0-9._-]+(\[[a-z,-]+\])?==[^ ;]+ .*--hash=sha256:[0-9a-f]{64}")
    assert [line for line in lines if not pinned.match(line)] == []
    assert pinned.match("dulwich>=1.0 --hash=sha256:" + "0" * 64) is None
