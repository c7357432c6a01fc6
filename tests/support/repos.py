"""Git repositories made by the real `git`, the same object ids on every machine.

Author, dates and message are fixed; no configuration of the user or the machine is read.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

DATE = 1_700_000_000
"""Seconds since 1970 of every commit, zone +0000."""
PERSON = "Example Author <author@example.invalid>"


@dataclass(frozen=True, slots=True)
class Entry:
    """A tree entry that is not a plain file; `data` is the blob, for a submodule the hex id."""

    mode: str
    data: bytes


def executable(data: bytes) -> Entry:
    """A file with the executable bit."""
    return Entry("100755", data)


def link(target: str) -> Entry:
    """A symbolic link."""
    return Entry("120000", target.encode())


def submodule(commit: str) -> Entry:
    """A gitlink to that commit."""
    return Entry("160000", commit.encode())


Files = Mapping[str, bytes | str | Entry]


def environment() -> dict[str, str]:
    """What `git` may see: a search path and fixed identities, nothing of the user."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Example Author",
        "GIT_AUTHOR_EMAIL": "author@example.invalid",
        "GIT_AUTHOR_DATE": f"{DATE} +0000",
        "GIT_COMMITTER_NAME": "Example Author",
        "GIT_COMMITTER_EMAIL": "author@example.invalid",
        "GIT_COMMITTER_DATE": f"{DATE} +0000",
    }


def git(path: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run `git -C path ...` and return its standard output without the final newline; a failure raises."""
    command = ["git", "-C", str(path), *arguments]
    done = subprocess.run(command, input=stdin, env=environment(), capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')}")
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


def make_repo(
    path: Path, files: Files, *, object_format: str = "sha1", bare: bool = False, branch: str = "main"
) -> str:
    """Make a repository with one commit on `branch` and return the commit's full id."""
    path.mkdir(parents=True, exist_ok=True)
    kind = ["--bare"] if bare else []
    git(path, "init", "--quiet", "--template=", f"--object-format={object_format}", f"--initial-branch={branch}", *kind)
    commit = _import(path, files, branch=branch, parent="")
    if not bare:
        git(path, "reset", "--quiet", "--hard")
    return commit


def add_commit(
    path: Path,
    files: Files,
    *,
    delete: Iterable[str] = (),
    branch: str = "main",
    message: str = "Add files",
    date: int = DATE,
) -> str:
    """Commit changed and deleted files on top of `branch` (begun when missing); return the commit's full id.

    A work tree that has `branch` checked out follows.
    """
    ref = f"refs/heads/{branch}"
    parent = git(path, "for-each-ref", "--format=%(objectname)", ref)
    commit = _import(path, files, branch=branch, parent=parent, delete=delete, message=message, date=date)
    if (path / ".git").exists() and git(path, "rev-parse", "--symbolic-full-name", "HEAD") == ref:
        git(path, "reset", "--quiet", "--hard")
    return commit


def _import(
    path: Path,
    files: Files,
    *,
    branch: str,
    parent: str,
    delete: Iterable[str] = (),
    message: str = "Add files",
    date: int = DATE,
) -> str:
    """Make the commit by `git fast-import`, which also says its id."""
    text = message.encode()
    head = f"commit refs/heads/{branch}\nmark :1\ncommitter {PERSON} {date} +0000\ndata {len(text)}\n"
    stream = [head.encode() + text + b"\n"]
    if parent:
        stream.append(f"from {parent}\n".encode())
    stream += [b"D " + _quoted(name) + b"\n" for name in delete]
    for name, content in files.items():
        entry = content if isinstance(content, Entry) else Entry("100644", _bytes(content))
        if entry.mode == "160000":
            stream.append(b"M 160000 " + entry.data + b" " + _quoted(name) + b"\n")
        else:
            line = f"M {entry.mode} inline ".encode() + _quoted(name)
            stream.append(line + f"\ndata {len(entry.data)}\n".encode() + entry.data + b"\n")
    stream.append(b"get-mark :1\n")
    return git(path, "fast-import", "--quiet", "--date-format=raw", stdin=b"".join(stream))


def folder_files(folder: Path) -> dict[str, bytes]:
    """The files of a plain folder by repository path, for `make_repo`; `.git` is left out."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(found)}


def _bytes(content: bytes | str) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _quoted(name: str) -> bytes:
    """A path as fast-import reads it, in C quotes."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + escaped.encode("utf-8", "surrogateescape") + b'"'
