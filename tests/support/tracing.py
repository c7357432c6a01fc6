"""Holds a process by strace: which system calls it makes, and which of them fails or ends it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CALLS = (
    *("open", "openat", "write", "pwrite64", "writev", "fsync", "fdatasync", "rename", "renameat", "renameat2"),
    *("mkdir", "mkdirat", "link", "linkat", "unlink", "unlinkat", "rmdir", "ftruncate", "fchmod", "flock", "close"),
)
"""Every call by which a store, a lockfile or a journal changes a disk, and those around them."""


@contextmanager
def traced(process: int, log: Path, fault: str | None = None) -> Iterator[None]:
    """Trace a process from the first line of the block on, and leave the block when it has ended.

    `log` gets a line a call, each descriptor with its path; `fault` is what strace's `inject` takes
    (`fsync:error=EIO:when=2`).
    """
    log.write_bytes(b"")
    command = ["strace", "-f", "-qq", "-y", "-s", "300", "-o", str(log), "-e", f"trace={','.join(CALLS)}"]
    command += ["-e", "signal=none"]
    if fault is not None:
        command += ["-e", f"inject={fault}"]
    with subprocess.Popen([*command, "-p", str(process)], stderr=subprocess.PIPE) as tracer:
        state = Path(f"/proc/{process}/status")
        while "TracerPid:\t0\n" in state.read_text(encoding="ascii"):
            assert tracer.poll() is None, tracer.stderr and tracer.stderr.read()
        yield
        tracer.wait(30)
