"""The filter's decisions, taken by a small interpreter of classic BPF written from the kernel's documentation."""

from __future__ import annotations

import struct

import pytest

from trunchbuild.effects.sandbox._seccomp import seccomp_program, supported
from trunchbuild.effects.sandbox._seccomp_host import OWN_PID, host_program

ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003
THREAD = 0x3D0F00  # what glibc's pthread_create passes to clone
FORK = 0x01200011  # CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD


def decide(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run the program over one struct seccomp_data."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    instructions = list(struct.iter_unpack("<HBBI", program))
    accumulator, at = 0, 0
    while True:
        code, true, false, value = instructions[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x06:
            return value
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            at += true if holds else false


# Numbers from the tables of `ausyscall --dump` for each machine.
X86_64_REFUSED = {
    "socket": 41, "connect": 42, "bind": 49, "fork": 57, "vfork": 58, "ptrace": 101, "mount": 165, "unshare": 272,
    "keyctl": 250, "perf_event_open": 298, "bpf": 321, "userfaultfd": 323, "io_uring_setup": 425, "add_key": 248,
    "memfd_create": 319, "setns": 308, "chroot": 161, "kexec_load": 246, "process_vm_readv": 310, "execveat": 322,
}  # fmt: skip
X86_64_ALLOWED = {
    "read": 0, "write": 1, "mmap": 9, "futex": 202, "execve": 59, "exit_group": 231, "openat": 257, "getrandom": 318,
    "rseq": 334, "clock_gettime": 228, "epoll_wait": 232, "arch_prctl": 158, "prlimit64": 302, "statx": 332,
}  # fmt: skip
AARCH64_REFUSED = {"socket": 198, "connect": 203, "ptrace": 117, "mount": 40, "unshare": 97, "bpf": 280, "setns": 268}
AARCH64_ALLOWED = {"read": 63, "write": 64, "mmap": 222, "execve": 221, "openat": 56, "futex": 98, "exit_group": 94}


@pytest.mark.parametrize(
    ("machine", "architecture", "refused", "allowed"),
    [
        ("x86_64", X86_64, X86_64_REFUSED, X86_64_ALLOWED),
        ("aarch64", AARCH64, AARCH64_REFUSED, AARCH64_ALLOWED),
    ],
)
def test_calls(machine: str, architecture: int, refused: dict[str, int], allowed: dict[str, int]) -> None:
    program = seccomp_program(machine)
    assert {name: decide(program, architecture, number) for name, number in refused.items()} == dict.fromkeys(
        refused, EPERM
    )
    assert {name: decide(program, architecture, number) for name, number in allowed.items()} == dict.fromkeys(
        allowed, ALLOW
    )


@pytest.mark.parametrize(("machine", "architecture", "clone"), [("x86_64", X86_64, 56), ("aarch64", AARCH64, 220)])
def test_threads_but_no_processes(machine: str, architecture: int, clone: int) -> None:
    program = seccomp_program(machine)
    assert decide(program, architecture, clone, THREAD) == ALLOW
    assert decide(program, architecture, clone, FORK) == EPERM
    assert decide(program, architecture, 435) == ENOSYS  # clone3


@pytest.mark.parametrize(("machine", "architecture", "kill"), [("x86_64", X86_64, 62), ("aarch64", AARCH64, 129)])
def test_no_signal_to_groups(machine: str, architecture: int, kill: int) -> None:
    """kill(2): 0 is the own group, -1 everybody, other numbers below 0 a group; the launch's group is shared."""
    program = seccomp_program(machine)
    for pid in (0, 2**32 - 1, 2**32 - 4711, 2**31):
        assert decide(program, architecture, kill, pid, 9) == EPERM
    for pid in (1, 2, 4711, 2**31 - 1):
        assert decide(program, architecture, kill, pid, 9) == ALLOW


def test_other_call_tables_are_not_a_way_around() -> None:
    """32-bit calls and x32 numbers would name other calls by the same numbers."""
    program = seccomp_program("x86_64")
    assert decide(program, I386, 20) == KILL
    assert decide(program, X86_64, 0x40000000 | 41) == KILL
    assert decide(program, X86_64, 0xFFFFFFFF) == KILL
    assert decide(seccomp_program("aarch64"), X86_64, 63) == KILL


def test_calls_of_later_kernels_do_not_exist() -> None:
    for number in (457, 467, 600, 0x3FFFFFFF):
        assert decide(seccomp_program("x86_64"), X86_64, number) == ENOSYS


def test_kernel_limits() -> None:
    """At most 4,096 instructions (BPF_MAXINSNS), 8 bytes each."""
    for machine in ("x86_64", "aarch64"):
        program = seccomp_program(machine)
        assert len(program) % 8 == 0
        assert len(program) // 8 <= 4096
    assert supported("x86_64")
    assert not supported("riscv64")


# Numbers and arguments of x86_64 and aarch64, from the same tables; 4711 stands for the guest's own process.
OWN = 4711
SHARED = {
    "x86_64": (
        X86_64,
        {"open": 2, "openat": 257, "kill": 62, "tgkill": 234, "prlimit64": 302, "chmod": 90, "uname": 63},
    ),
    "aarch64": (AARCH64, {"openat": 56, "kill": 129, "tgkill": 131, "prlimit64": 261, "fchmodat": 53, "uname": 160}),
}
MORE = {
    "x86_64": {
        "fcntl": 72,
        "ioctl": 16,
        "prctl": 157,
        "readlinkat": 267,
        "capget": 125,
        "statfs": 137,
        "getxattr": 191,
    },
    "aarch64": {"fcntl": 25, "ioctl": 29, "prctl": 167, "readlinkat": 78, "capget": 90, "statfs": 43, "getxattr": 8},
}
EINVAL, ENOTTY = 0x00050016, 0x00050019
O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_CLOEXEC, O_DIRECTORY = 1, 2, 0o100, 0o1000, 0o2000000, 0o200000


@pytest.mark.parametrize("machine", SHARED)
def test_the_second_filter_looks_at_arguments(machine: str) -> None:
    """Reading is fine and writing is not; the own process may be signalled and no other."""
    architecture, numbers = SHARED[machine]
    program = host_program(machine).replace(struct.pack("<I", OWN_PID), struct.pack("<I", OWN))

    def answer(name: str, *arguments: int) -> int:
        return decide(program, architecture, numbers[name], *arguments)

    for flags in (0, O_CLOEXEC, O_DIRECTORY | O_CLOEXEC):
        assert answer("openat", 0xFFFFFF9C, 1, flags) == ALLOW
    for flags in (O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_CLOEXEC | O_TRUNC, O_WRONLY | O_CREAT | O_TRUNC):
        assert answer("openat", 0xFFFFFF9C, 1, flags) == EPERM
    if "open" in numbers:
        assert (answer("open", 1, 0), answer("open", 1, O_TRUNC)) == (ALLOW, EPERM)
    assert [answer("kill", pid, 9) for pid in (OWN, 0, 1, OWN + 1, 0xFFFFFFFF)] == [ALLOW, EPERM, EPERM, EPERM, EPERM]
    assert [answer("tgkill", pid, 7, 6) for pid in (OWN, 1)] == [ALLOW, EPERM]
    assert [answer("prlimit64", pid, 7) for pid in (0, OWN, 1)] == [ALLOW, ALLOW, EPERM]
    assert answer("chmod" if machine == "x86_64" else "fchmodat", 1, 0o777) == EPERM
    assert answer("uname", 1) == ALLOW


@pytest.mark.parametrize("machine", SHARED)
def test_the_second_filter_keeps_descriptors_to_reading(machine: str) -> None:
    """No owner, signal, lease, lock or watch by fcntl; no business of devices and file systems; no longer life."""
    architecture, numbers = SHARED[machine][0], MORE[machine]
    program = host_program(machine).replace(struct.pack("<I", OWN_PID), struct.pack("<I", OWN))

    def answer(name: str, *arguments: int) -> int:
        return decide(program, architecture, numbers[name], *arguments)

    # F_DUPFD to F_SETFL, F_DUPFD_CLOEXEC; F_GETLK to F_GETSIG, F_SETOWN_EX, F_OFD_*, F_SETLEASE, F_NOTIFY.
    assert {answer("fcntl", 1, command) for command in (*range(5), 1030)} == {ALLOW}
    assert {answer("fcntl", 1, command) for command in (*range(5, 12), 15, 16, *range(36, 39), 1024, 1026)} == {EPERM}
    # TCGETS, FIONREAD, FIONBIO; TIOCSTI, FS_IOC_SETFLAGS, FIOSETOWN, FICLONE.
    assert {answer("ioctl", 0, request) for request in (0x5401, 0x541B, 0x5421)} == {ALLOW}
    assert {answer("ioctl", 0, request) for request in (0x5412, 0x40086602, 0x8901, 0x40049409)} == {ENOTTY}
    # PR_SET_PDEATHSIG; PR_SET_NAME and PR_SET_VMA, which programs use.
    assert (answer("prctl", 1, 0), answer("prctl", 15, 0), answer("prctl", 0x53564D41, 0)) == (EPERM, ALLOW, ALLOW)
    assert answer("readlinkat", 0xFFFFFF9C) == EINVAL
    assert {answer(name) for name in ("capget", "statfs", "getxattr")} == {EPERM}
