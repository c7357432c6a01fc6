"""Which file system a folder is on. SQLite's locks and shared memory do not hold on those that span machines."""

from __future__ import annotations

import os
import re
from pathlib import Path

_NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "coda", "gfs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4"}
    | {"ocfs2", "orangefs", "pvfs2", "smb3", "smbfs"}
)
_NETWORK_FUSE = frozenset(
    {"afp", "beegfs", "ceph", "cvmfs", "davfs", "davfs2", "gcsfuse", "glusterfs", "goofys", "juicefs", "mfs", "moosefs"}
    | {"mount.s3", "onedriver", "rclone", "s3fs", "s3ql", "seaweedfs", "sshfs", "tigrisfs", "vmhgfs-fuse", "weed"}
)
_ESCAPE = re.compile(r"\\([0-7]{3})")


def is_network(kind: str) -> bool:
    """Whether a file system of this type may be written by several machines."""
    name, _, helper = kind.partition(".")
    return name in _NETWORK or (name in ("fuse", "fuseblk") and helper in _NETWORK_FUSE)


def file_system_of(path: str, mountinfo: str) -> str | None:
    """The type of the file system that holds an absolute, real path; None where the table does not say.

    `mountinfo` is the text of `/proc/self/mountinfo` (proc(5)); of two mounts at one place the later one covers.
    """
    best, kind = -1, None
    for line in mountinfo.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 6:
            continue
        point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), after.split(" ")[0]
    return kind


def file_system(folder: Path) -> str | None:
    """The type of the file system that holds a folder; None where the machine does not say."""
    try:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return file_system_of(os.path.realpath(folder), table)
