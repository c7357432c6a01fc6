"""Becomes another program under a kernel that refuses chosen calls, as a container's filter or an old kernel does.

Run as `python refusing_kernel.py WHAT[,WHAT] PROGRAM ARGUMENT ...`; WHAT is `namespaces` (user namespaces cannot be
made: EPERM, as Docker's profile answers), `landlock` (ENOSYS, as a kernel without it answers), `landlock-at-boot`
(EOPNOTSUPP, as one that was told at boot to go without) or `nothing`. The filter is written
in libseccomp's spirit and shares nothing with the product's: a list of (call, flag or None, error).
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

NEW_USER, NEW_NS = 0x10000000, 0x00020000
RULES = {
    # clone takes its flags as argument 0 on x86_64 and aarch64; clone3 hides them, so it is missing.
    "namespaces": {
        "x86_64": [(56, NEW_USER | NEW_NS, 1), (272, None, 1), (435, None, 38)],
        "aarch64": [(220, NEW_USER | NEW_NS, 1), (97, None, 1), (435, None, 38)],
    },
    "landlock": {machine: [(444, None, 38)] for machine in ("x86_64", "aarch64")},
    "landlock-at-boot": {machine: [(444, None, 95)] for machine in ("x86_64", "aarch64")},
    "nothing": {"x86_64": [], "aarch64": []},
}


def filter_of(rules: list[tuple[int, int | None, int]]) -> bytes:
    """Classic BPF over struct seccomp_data: load the number, compare, maybe test the flags, answer."""
    program = b""
    for number, flags, error in rules:
        answer = struct.pack("<HBBI", 0x06, 0, 0, 0x00050000 | error)
        if flags is None:
            body = answer
        else:
            load = struct.pack("<HBBI", 0x20, 0, 0, 16)
            test = struct.pack("<HBBI", 0x45, 0, 1, flags)
            allow = struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000)
            body = load + test + answer + allow
        program += struct.pack("<HBBI", 0x20, 0, 0, 0)
        program += struct.pack("<HBBI", 0x15, 0, len(body) // 8, number) + body
    return program + struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000)


def main() -> None:
    """Install the filter and become the program."""
    rules = [rule for what in sys.argv[1].split(",") for rule in RULES[what][os.uname().machine]]
    program = ctypes.create_string_buffer(filter_of(rules), len(filter_of(rules)))
    described = struct.pack("@HP", len(program) // 8, ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((38, 1, 0), (22, 2, ctypes.create_string_buffer(described, len(described)))):
        if libc.prctl(*arguments, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
