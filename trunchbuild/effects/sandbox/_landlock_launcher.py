"""Confines the process that runs it and becomes another program: `python -I -S -B _landlock_launcher.py FD STATUS`.

FD is a file with the order, marshalled, STATUS the write end of a pipe. Every step fails closed: the words go to
standard error, the exit code is 127, and `ready` goes to the pipe only when nothing but `execve` is left to do.

Landlock: <linux/landlock.h>, landlock(7). Capabilities: capabilities(7). It uses the standard library alone, and no
`signal`, `subprocess` or `threading`, since the program it becomes inherits what they would set.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import struct
import sys

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_SECUREBITS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 28, 38, 47, 4
# NOROOT, NO_SETUID_FIXUP, KEEP_CAPS off, NO_CAP_AMBIENT_RAISE, each with its lock (<linux/securebits.h>).
SECUREBITS = 0x01 | 0x02 | 0x04 | 0x08 | 0x20 | 0x40 | 0x80
SECCOMP_MODE_FILTER = 2
SIGKILL = 9
# The same numbers on every machine.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
RULE_PATH_BENEATH = 1
VERSION_FLAG = 1
CAPSET = {"x86_64": 126, "aarch64": 91}
LINUX_CAPABILITY_VERSION_3 = 0x20080522
NOBODY = 65534

EXECUTE, READ_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 3
RIGHTS = {"file": READ_FILE, "program": READ_FILE | EXECUTE, "folder": READ_FILE | READ_DIR, "listed": READ_DIR}

# `typing` and `json` would cost more than all of the work here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Order = dict[str, Any]

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


class SetupError(Exception):
    """A step that did not work."""


def checked(step: str, result: int) -> int:
    """The result of a call, or the step's name with the system's words."""
    if result < 0:
        number = ctypes.get_errno()
        raise SetupError(f"{step}: {os.strerror(number)} (errno {number})")
    return result


def prctl(step: str, option: int, *arguments: int) -> int:
    """The process control call of this option."""
    values = [ctypes.c_ulong(value) for value in (*arguments, 0, 0, 0, 0)[:4]]
    return checked(step, libc.prctl(option, *values))


def syscall(step: str, number: int, *arguments: object) -> int:
    """A call that the C library has no function for."""
    return checked(step, libc.syscall(ctypes.c_long(number), *arguments))


def leave_root(order: Order) -> None:
    """As root become nobody, if nobody can reach the program's files; else stay, and lose every capability below.

    Root of a user namespace may be the only user there is, and may not be allowed to leave its groups: it stays too.
    """
    if os.geteuid() != 0:
        return
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    except OSError:
        return
    reachable = all(os.access(path, os.R_OK, effective_ids=True) for path, _ in order["files"])
    os.seteuid(0)
    if reachable:
        os.setresuid(NOBODY, NOBODY, NOBODY)


def drop_capabilities(machine: str) -> None:
    """No capability, now or by running any program."""
    capability = 0
    while libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) == 0:
        capability += 1
    if os.geteuid() == 0:
        prctl("setting the secure bits", PR_SET_SECUREBITS, SECUREBITS)
    prctl("clearing the ambient capabilities", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("<Ii", LINUX_CAPABILITY_VERSION_3, 0)
    syscall("dropping the capabilities", CAPSET[machine], header, bytes(24))


def landlock_attributes(version: int) -> bytes:
    """`struct landlock_ruleset_attr`: every right that this version knows is handled, so denied unless a rule says so.

    Version 2 added REFER, 3 TRUNCATE, 4 TCP, 5 IOCTL_DEV, 6 the scopes.
    """
    files = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    network = 0b11 if version >= 4 else 0
    scopes = 0b11 if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    return struct.pack("<QQQ", (1 << files) - 1, network, scopes)[:size]


def restrict_files(order: Order) -> None:
    """Landlock: the given files and nothing else."""
    version = syscall("Landlock", CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(VERSION_FLAG))
    attributes = landlock_attributes(version)
    ruleset = syscall(
        "landlock_create_ruleset", CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0)
    )
    for path, kind in order["files"]:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError as error:
            raise SetupError(f"Can't find source path {path}: {error.strerror}") from None
        rule = struct.pack("=Qi", RIGHTS[kind], descriptor)
        syscall(f"landlock_add_rule {path}", ADD_RULE, ctypes.c_int(ruleset), RULE_PATH_BENEATH, rule, ctypes.c_uint(0))
        os.close(descriptor)
    syscall("landlock_restrict_self", RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))
    os.close(ruleset)


def install_filter(program: bytes) -> None:
    """One more seccomp filter (`struct sock_fprog`)."""
    instructions = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions))
    buffer = ctypes.create_string_buffer(described, len(described))
    prctl("prctl(PR_SET_SECCOMP)", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(buffer))


def confine(order: Order, status: int) -> None:
    """All steps, in an order in which none undoes another."""
    leave_root(order)
    prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1)
    drop_capabilities(order["machine"])
    # A change of user clears it, so it stands after that; the parent may have ended before it stood.
    prctl("PR_SET_PDEATHSIG", PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != order["parent"]:
        raise SetupError("the parent is gone")
    os.chdir("/")
    restrict_files(order)
    own = struct.pack("<I", os.getpid())
    placeholder = struct.pack("<I", order["own_pid"])
    programs = [program.replace(placeholder, own) for program in order["filters"]]
    os.closerange(3, status)
    os.closerange(status + 1, 1 << 16)
    os.set_inheritable(status, False)
    for program in programs:
        install_filter(program)


def main() -> None:
    """Read the order, confine, become the program."""
    descriptor, status = int(sys.argv[1]), int(sys.argv[2])
    try:
        with os.fdopen(descriptor, "rb") as file:
            order = marshal.load(file)  # noqa: S302 - written by the process that started this one
        confine(order, status)
        os.write(status, b"ready\n")
        os.execve(order["argv"][0], order["argv"], order["environment"])  # noqa: S606 - it is confined by now
    except (SetupError, OSError, AttributeError, KeyError, ValueError) as error:
        os.write(2, f"landlock launcher: {error}\n".encode())
        os.write(status, b"failed\n")
    os._exit(127)


if __name__ == "__main__":
    main()
