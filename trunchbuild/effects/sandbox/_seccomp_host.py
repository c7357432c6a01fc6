"""A second system call filter, for a guest that shares the host's namespaces.

Under bubblewrap other processes and writable files do not exist. Where the guest shares them with the
host (see `_landlock.py`), the calls that would reach them are refused here. Landlock itself leaves these open:
metadata may be changed (chmod, chown, times, attributes), files may be watched, and before its third version files may
be cut (landlock(7), "CAVEATS"; Documentation/userspace-api/landlock.rst, "Current limitations"). Links, attributes and
sizes of file systems may be read, and before its sixth version a descriptor may name any process to be signalled.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass

from trunchbuild.effects.sandbox._seccomp import (
    ALLOW,
    ERRNO,
    JUMP_BITS,
    JUMP_EQUAL,
    NR,
    argument_offset,
    column_of,
    jump,
    load,
    return_,
)

OWN_PID = 0xFEEDBEE5
"""Stands for the guest's process id until the launcher knows it; no process id is that large."""

_ABSENT = -1
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC: the same numbers on x86_64 and aarch64."""
_DYNAMIC_CLOCK = 0x80000000
"""Clocks below zero belong to a process or a descriptor (include/linux/posix-timers.h)."""

_REFUSE = ERRNO | errno.EPERM
_MISSING = ERRNO | errno.ENOSYS
_NO_LINK = ERRNO | errno.EINVAL
_NO_DEVICE = ERRNO | errno.ENOTTY

# name: (number on x86_64, number on aarch64), as in `_seccomp.py`.
_CHANGES: dict[str, tuple[int, int]] = {
    "creat": (85, _ABSENT),
    "truncate": (76, 45),
    "mkdir": (83, _ABSENT),
    "mkdirat": (258, 34),
    "rmdir": (84, _ABSENT),
    "unlink": (87, _ABSENT),
    "unlinkat": (263, 35),
    "rename": (82, _ABSENT),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, _ABSENT),
    "linkat": (265, 37),
    "symlink": (88, _ABSENT),
    "symlinkat": (266, 36),
    "chmod": (90, _ABSENT),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, _ABSENT),
    "fchown": (93, 55),
    "lchown": (94, _ABSENT),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "utime": (132, _ABSENT),
    "utimes": (235, _ABSENT),
    "futimesat": (261, _ABSENT),
    "utimensat": (280, 88),
    "flock": (73, 32),
    "sync": (162, 81),
    "syncfs": (306, 267),
}
_WATCHES: dict[str, tuple[int, int]] = {
    "inotify_init": (253, _ABSENT),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "setpriority": (141, 140),
    "getpriority": (140, 141),
    "ioprio_set": (251, 30),
    "ioprio_get": (252, 31),
    "tkill": (200, 130),
    "setpgid": (109, 154),
    "capget": (125, 90),
}
# `uname` is not among them: Node does not start without it.
_TELLS: dict[str, tuple[int, int]] = {
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "chdir": (80, 49),
    "fchdir": (81, 50),
}
# Where a link leads is the content of a file. Programs look for links among the folders of their own path.
_LINKS: dict[str, tuple[int, int]] = {"readlink": (89, _ABSENT), "readlinkat": (267, 78)}
# The flags of openat2 lie in memory, where a filter cannot look; C libraries fall back.
_FALL_BACK: dict[str, tuple[int, int]] = {"openat2": (437, 437)}


@dataclass(frozen=True, slots=True)
class _Only:
    """The call goes through when this argument is one of the values."""

    call: tuple[int, int]
    argument: int
    values: Sequence[int]
    otherwise: int


@dataclass(frozen=True, slots=True)
class _Never:
    """The call is refused when this argument is this value."""

    call: tuple[int, int]
    argument: int
    value: int


@dataclass(frozen=True, slots=True)
class _Without:
    """The call goes through when this argument has none of the bits."""

    call: tuple[int, int]
    argument: int
    bits: int


# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ: no locks, no leases, no
# watching of folders, and no F_SETOWN with F_SETSIG, which sends any signal to any process of the same user.
_FCNTL = (0, 1, 2, 3, 4, 1030, 1031, 1032)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: FS_IOC_SETFLAGS and its like change a file of the own user
# through a descriptor that may only read.
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
_PR_SET_PDEATHSIG = 1

_RULES: tuple[_Only | _Never | _Without, ...] = (
    _Without((2, _ABSENT), 1, _WRITING),  # open
    _Without((257, 56), 2, _WRITING),  # openat
    _Without((228, 113), 0, _DYNAMIC_CLOCK),  # clock_gettime
    _Without((229, 114), 0, _DYNAMIC_CLOCK),  # clock_getres
    _Without((230, 115), 0, _DYNAMIC_CLOCK),  # clock_nanosleep
    _Without((222, 107), 0, _DYNAMIC_CLOCK),  # timer_create
    _Only((72, 25), 1, _FCNTL, _REFUSE),  # fcntl
    _Only((16, 29), 1, _IOCTL, _NO_DEVICE),  # ioctl
    _Never((157, 167), 0, _PR_SET_PDEATHSIG),  # prctl: the guest must not outlive its parent
    _Only((62, 129), 0, (OWN_PID,), _REFUSE),  # kill
    _Only((234, 131), 0, (OWN_PID,), _REFUSE),  # tgkill
    _Only((129, 138), 0, (OWN_PID,), _REFUSE),  # rt_sigqueueinfo
    _Only((297, 240), 0, (OWN_PID,), _REFUSE),  # rt_tgsigqueueinfo
    _Only((302, 261), 0, (0, OWN_PID), _REFUSE),  # prlimit64
    _Only((121, 155), 0, (0, OWN_PID), _REFUSE),  # getpgid
    _Only((124, 156), 0, (0, OWN_PID), _REFUSE),  # getsid
    _Only((274, 100), 0, (0, OWN_PID), _REFUSE),  # get_robust_list
    _Only((203, 122), 0, (0, OWN_PID), _REFUSE),  # sched_setaffinity
    _Only((144, 119), 0, (0, OWN_PID), _REFUSE),  # sched_setscheduler
    _Only((142, 118), 0, (0, OWN_PID), _REFUSE),  # sched_setparam
    _Only((314, 274), 0, (0, OWN_PID), _REFUSE),  # sched_setattr
    # A C library that asks for a thread of its own takes ENOSYS for "not known here".
    _Only((204, 123), 0, (0, OWN_PID), _MISSING),  # sched_getaffinity
    _Only((145, 120), 0, (0, OWN_PID), _MISSING),  # sched_getscheduler
    _Only((143, 121), 0, (0, OWN_PID), _MISSING),  # sched_getparam
    _Only((315, 275), 0, (0, OWN_PID), _MISSING),  # sched_getattr
    _Only((148, 127), 0, (0, OWN_PID), _MISSING),  # sched_rr_get_interval
)


def host_program(machine: str) -> bytes:
    """The filter for `uname -m`, to be put beside that of `_seccomp.py`, which checks the architecture.

    Every `OWN_PID` in it has to be replaced by the process id.
    """
    column = column_of(machine)
    program = [load(NR)]
    refused = _CHANGES | _WATCHES | _TELLS
    for calls, answer in ((refused, _REFUSE), (_LINKS, _NO_LINK), (_FALL_BACK, _MISSING)):
        for numbers in calls.values():
            if numbers[column] != _ABSENT:
                program += [jump(JUMP_EQUAL, numbers[column], false=1), return_(answer)]
    for rule in _RULES:
        if rule.call[column] != _ABSENT:
            body = _body(rule)
            program += [jump(JUMP_EQUAL, rule.call[column], false=len(body)), *body]
    return b"".join([*program, return_(ALLOW)])


def _body(rule: _Only | _Never | _Without) -> list[bytes]:
    """What is decided once the number fits; it always returns, so the next rule finds the number still loaded."""
    look = load(argument_offset(rule.argument))
    if isinstance(rule, _Without):
        return [look, jump(JUMP_BITS, rule.bits, false=1), return_(_REFUSE), return_(ALLOW)]
    if isinstance(rule, _Never):
        return [look, jump(JUMP_EQUAL, rule.value, false=1), return_(_REFUSE), return_(ALLOW)]
    compare = [jump(JUMP_EQUAL, value, true=len(rule.values) - position) for position, value in enumerate(rule.values)]
    return [look, *compare, return_(rule.otherwise), return_(ALLOW)]
