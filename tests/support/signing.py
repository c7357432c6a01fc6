"""Commits signed by the real `ssh-keygen` and `gpg`, with keys made for one test session."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.repos import git

ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": "/nonexistent", "TZ": "UTC"}


def run(*command: str | Path, stdin: bytes = b"") -> bytes:
    done = subprocess.run(list(map(str, command)), input=stdin, env=ENVIRONMENT, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class SshKey:
    """An ed25519 key in a file."""

    file: Path

    @classmethod
    def make(cls, file: Path) -> SshKey:
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "key of a test", "-f", file)
        return cls(file)

    @property
    def public(self) -> str:
        """Type and key, as a line of allowed signers ends."""
        return " ".join(self.file.with_suffix(".pub").read_text().split()[:2])

    @property
    def fingerprint(self) -> str:
        return run("ssh-keygen", "-lf", self.file).decode().split()[1]

    def sign(self, payload: bytes, namespace: str = "git") -> bytes:
        return run("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", self.file, stdin=payload)


@dataclass(frozen=True, slots=True)
class GpgHome:
    """A GnuPG home folder; its path is short, since sockets live in it."""

    folder: Path

    def gpg(self, *arguments: str | Path, stdin: bytes = b"") -> bytes:
        quiet = ("--batch", "--quiet", "--no-tty", "--no-permission-warning", "--pinentry-mode", "loopback")
        return run("gpg", "--homedir", self.folder, *quiet, "--passphrase", "", *arguments, stdin=stdin)

    def make_key(self, name: str, *, expire: str = "never", faked_time: str | None = None) -> str:
        """Make a key; gives its fingerprint."""
        now = ("--faked-system-time", faked_time) if faked_time else ()
        self.gpg(*now, "--quick-gen-key", f"{name} <{name}@example.invalid>", "ed25519", "sign", expire)
        listed = self.gpg("--with-colons", "--list-keys", f"{name}@example.invalid").decode()
        return next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:"))

    def sign(self, payload: bytes, key: str, *options: str) -> bytes:
        return self.gpg(*options, "--armor", "--local-user", key, "--detach-sign", stdin=payload)

    def close(self) -> None:
        """End this folder's own agent."""
        run("gpgconf", "--homedir", self.folder, "--kill", "all")


def signed_commit(
    repo: Path, commit: str, sign: Callable[[bytes], bytes], *, change: tuple[bytes, bytes] = (b"", b"")
) -> str:
    """Sign a commit anew and write it; gives its id. `change` is made after signing."""
    payload = raw_commit(repo, commit)
    header = b"gpgsig-sha256" if len(commit) == 64 else b"gpgsig"
    return write_commit(repo, with_header(payload, header, sign(payload)).replace(*change, 1))


def raw_commit(repo: Path, commit: str) -> bytes:
    return run("git", "-C", repo, "cat-file", "commit", commit)


def with_header(payload: bytes, header: bytes, signature: bytes) -> bytes:
    head, _, message = payload.partition(b"\n\n")
    return head + b"\n" + header + b" " + signature.rstrip(b"\n").replace(b"\n", b"\n ") + b"\n\n" + message


def write_commit(repo: Path, raw: bytes) -> str:
    return git(repo, "hash-object", "-t", "commit", "--literally", "-w", "--stdin", stdin=raw)
