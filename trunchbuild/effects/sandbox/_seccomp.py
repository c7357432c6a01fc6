"""The system call filter: a classic BPF program, assembled here because no library for it is needed.

It refuses whole families of calls by name and every call that is newer than this table. The namespaces already hide
network, files and processes; the filter takes the kernel's less tested doors away from the guest, and forking, so that
one process is the whole tree and its limits are the guest's limits.

Format: `struct sock_filter` of <linux/filter.h>, run over `struct seccomp_data` of <linux/seccomp.h>.
"""

from __future__ import annotations

import errno
import struct

# Offsets in struct seccomp_data: int nr; __u32 arch; __u64 instruction_pointer; __u64 args[6] (little endian).
NR, _ARCH, _ARGUMENTS = 0, 4, 16

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
JUMP_BITS = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
ERRNO = 0x00050000

_CLONE_THREAD = 0x00010000
_FIRST_UNKNOWN = 457
"""From `statmount` on, calls answer ENOSYS as on an older kernel; C libraries fall back."""

# AUDIT_ARCH_* of <linux/audit.h> and the column of `_REFUSED`.
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

_ABSENT = -1

# name: (number on x86_64, number on aarch64), from arch/x86/entry/syscalls/syscall_64.tbl and
# include/uapi/asm-generic/unistd.h.
_REFUSED: dict[str, tuple[int, int]] = {
    # network and other ways to talk
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "recvfrom": (45, 207),
    "recvmsg": (47, 212),
    "recvmmsg": (299, 243),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # processes and their memory (clone stands apart: it may make threads)
    "fork": (57, _ABSENT),
    "vfork": (58, _ABSENT),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "personality": (135, 92),
    # namespaces and mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "mknod": (133, _ABSENT),
    "mknodat": (259, 33),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    # memory that the address space limit does not count
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # parts of the kernel with a history
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "vmsplice": (278, 75),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, _ABSENT),
    "uselib": (134, _ABSENT),
    "lookup_dcookie": (212, 18),
    "sysfs": (139, _ABSENT),
    "ustat": (136, _ABSENT),
    "_sysctl": (156, _ABSENT),
    "syslog": (103, 116),
    # administration
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "iopl": (172, _ABSENT),
    "ioperm": (173, _ABSENT),
    "vhangup": (153, 58),
}

_KILL = {"x86_64": 62, "aarch64": 129}
_NEGATIVE = 0x80000000
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_X32_BIT = 0x40000000


def supported(machine: str) -> bool:
    """Whether a filter exists for this `uname -m`."""
    return machine in _ARCHITECTURES


def seccomp_program(machine: str) -> bytes:
    """The filter for `uname -m`, as an array of `struct sock_filter` in the machine's (little endian) order."""
    architecture, column = _ARCHITECTURES[machine]
    refuse = return_(ERRNO | errno.EPERM)
    missing = return_(ERRNO | errno.ENOSYS)
    program = [
        load(_ARCH),
        jump(JUMP_EQUAL, architecture, true=1),
        return_(_KILL_PROCESS),
        load(NR),
        # A process may call by x32 numbers, which this table does not know.
        *([jump(_JUMP_AT_LEAST, _X32_BIT, false=1), return_(_KILL_PROCESS)] if machine == "x86_64" else []),
        jump(_JUMP_AT_LEAST, _FIRST_UNKNOWN, false=1),
        missing,
        # glibc tries clone3 first; its flags lie in memory, where a filter cannot look.
        jump(JUMP_EQUAL, _CLONE3, false=1),
        missing,
        # No signal to a group or to all: processes outside belong to the guest's group, and a group has no namespace.
        jump(JUMP_EQUAL, _KILL[machine], false=5),
        load(argument_offset(0)),
        jump(_JUMP_AT_LEAST, _NEGATIVE, true=1),
        jump(JUMP_EQUAL, 0, false=1),
        refuse,
        return_(ALLOW),
    ]
    numbers = sorted(numbers[column] for numbers in _REFUSED.values() if numbers[column] != _ABSENT)
    for position, number in enumerate(numbers):
        # Past the remaining comparisons, over the four instructions about clone, to the refusal.
        program.append(jump(JUMP_EQUAL, number, true=len(numbers) - position - 1 + 4))
    program += [
        jump(JUMP_EQUAL, _CLONE[machine], false=2),
        load(argument_offset(0)),
        jump(JUMP_BITS, _CLONE_THREAD, false=1),
        return_(ALLOW),
        refuse,
    ]
    return b"".join(program)


def _instruction(code: int, true: int, false: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, true, false, value)


def column_of(machine: str) -> int:
    """Where this file's tables hold the numbers of a machine (`uname -m`)."""
    return _ARCHITECTURES[machine][1]


def argument_offset(number: int) -> int:
    """Where the low half of an argument of the call lies, counted from 0."""
    return _ARGUMENTS + 8 * number


def load(offset: int) -> bytes:
    """Load 32 bits of the description of the call."""
    return _instruction(_LOAD, 0, 0, offset)


def jump(code: int, value: int, *, true: int = 0, false: int = 0) -> bytes:
    """Skip so many instructions, by the outcome of a comparison of what was loaded last."""
    return _instruction(code, true, false, value)


def return_(action: int) -> bytes:
    """End with this action."""
    return _instruction(_RETURN, 0, 0, action)
