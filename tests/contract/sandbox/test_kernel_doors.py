"""Calls of the kernel that no guest may use, made by number from inside: keys, clocks, devices, other processes ...

The same calls fail in another way, or work, for a program that nothing confines: each refusal has that twin.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.contract.sandbox.conftest import ATTEMPT, CONFINING, OneWay, run_python
from trunchbuild.effects.runtime._libraries import libraries_of
from trunchbuild.effects.sandbox._launch import machine

# Numbers of arch/x86/entry/syscalls/syscall_64.tbl; other machines share the filter's own test.
pytestmark = pytest.mark.skipif(machine() != "x86_64", reason="the numbers of the calls are those of x86_64")

REFUSED = {
    "add_key": (248, "user", "name", "x", 1, -3),
    "request_key": (249, "user", "name", 0, -3),
    "keyctl": (250, 0, -3, 0),
    "clock_settime": (227, 0, 0),
    "settimeofday": (164, 0, 0),
    "adjtimex": (159, 0),
    "clock_adjtime": (305, 0, 0),
    "ptrace": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "pidfd_open": (434, 1, 0),
    "kcmp": (312, 1, 1, 0, 0, 0),
    "unshare a user namespace": (272, 0x10000000),
    "unshare a time namespace": (272, 0x80),
    "setns": (308, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "pivot_root": (155, 0, 0),
    "chroot": (161, "/"),
    "open_tree": (428, 0, "/", 0),
    "open_by_handle_at": (304, 0, 0, 0),
    "mknod a device": (133, "/null", 0o20666, 0x103),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, 0, 0, 0, 0, 0),
    "userfaultfd": (323, 0),
    "io_uring_setup": (425, 1, 0),
    "memfd_create": (319, "x", 0),
    "shmget": (29, 0, 4096, 0o1600),
    "msgget": (68, 0, 0o1600),
    "mq_open": (240, "x", 0o102, 0o600, 0),
    "socketpair": (53, 1, 1, 0, 0),
    "sendmsg": (46, 1, 0, 0),
    "sethostname": (170, "x", 1),
    "personality": (135, 0x0040000),
    "execveat": (322, 0, "", 0, 0, 0x1000),
    "vmsplice": (278, 1, 0, 0, 0),
    "syslog": (103, 3, 0, 0),
    "reboot": (169, 0, 0, 0, 0),
    "init_module": (175, 0, 0, 0),
    "vfork": (58,),
}
"""Name -> number and arguments. Most arguments are nonsense: an unconfined program is told so, with another error."""

# What only a guest in namespaces of its own may do: there it concerns itself alone.
SHARED_TREE = {
    "inotify_init1": (294, 0),
    "flock": (73, 0, 1),
    "sync": (162,),
    "kill process 1": (62, 1, 0),
    "tkill": (200, 1, 0),
    "signal the own group": (62, 0, 0),
    "queue a signal": (129, 1, 0, 0),
    "limits of process 1": (302, 1, 7, 0, 0),
    "group of process 1": (121, 1),
    "session of process 1": (124, 1),
    "priority of all": (141, 2, 0, 5),
    "affinity of process 1": (203, 1, 8, "x" * 8),
    "capabilities of process 1": (125, 0, 0),
    "owner of a pipe": (72, 1, 8, 1),
    "owner of a pipe, by a structure": (72, 1, 15, 0),
    "signal of a pipe": (72, 1, 10, 9),
    "lock a file": (72, 0, 6, 0),
    "lease a file": (72, 0, 1024, 0),
    "watch a folder": (72, 0, 1026, 1),
    "outlive the parent": (157, 1, 0),
    "room of a file system": (137, "/", 0),
    "attribute of a file": (191, "/", "user.x", 0, 0),
    "attributes of a file": (194, "/", 0, 0),
    "go to a folder": (80, "/"),
}
# Answered like a kernel that lacks the call, so that C libraries go without.
MISSING = {
    "clone3": (435, 0, 0),
    "openat2": (437, -100, "/", 0, 0),
    "clock of process 1": (228, (~1 << 3) | 2 & 0xFFFFFFFF, 0),
}

# A link is taken for none; what is done through a descriptor of a file, for a device's business.
OTHERWISE = {
    "follow a link": ((89, "/proc/self", 0, 8), errno.EINVAL),
    "follow a link from a folder": ((267, -100, "/proc/self", 0, 8), errno.EINVAL),
    "flags of a file": ((16, 0, 0x40086602, 0), errno.ENOTTY),
    "freeze a file system": ((16, 0, 0xC0045877, 0), errno.ENOTTY),
    "push a key": ((16, 0, 0x5412, "x"), errno.ENOTTY),
}

CODE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    converted = [ctypes.c_char_p(one.encode()) if isinstance(one, str) else ctypes.c_long(one) for one in arguments]
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *converted)
    return "worked" if result >= 0 else ctypes.get_errno()
print({name: call(*words) for name, words in CALLS.items()})
"""


def guest_calls(sandbox: OneWay, calls: dict[str, tuple[object, ...]]) -> dict[str, object]:
    """The error number of each call made by a guest."""
    run = run_python(sandbox, f"CALLS = {calls!r}\n{CODE}", read_only=_ctypes())
    assert run.outcome.ending == "exited", run.outcome
    answers: dict[str, object] = eval(run.output)
    return answers


def test_no_guest_gets_through(sandbox: OneWay) -> None:
    """Every call is refused before the kernel looks at its arguments."""
    assert guest_calls(sandbox, REFUSED) == dict.fromkeys(REFUSED, errno.EPERM)


def test_an_unconfined_program_is_answered_otherwise() -> None:
    """The twin: without a filter at least half of these calls work or fail for another reason, for any user."""
    harmless = {name: words for name, words in REFUSED.items() if name not in {"vfork", "reboot", "adjtimex"}}
    done = subprocess.run(
        [sys.executable, "-c", f"CALLS = {harmless!r}\n{CODE}"], capture_output=True, check=True, text=True
    )
    answers = eval(done.stdout)
    assert sum(answer != errno.EPERM for answer in answers.values()) > len(harmless) / 2
    assert answers["memfd_create"] == answers["socketpair"] == "worked" or answers["socketpair"] == errno.EFAULT


def test_what_the_host_shares_is_out_of_reach(sandbox: OneWay) -> None:
    """Where processes and files are the host's, the calls that would tell of them or change them are refused."""
    if not sandbox.shares_tree:
        answers = guest_calls(sandbox, {"kill process 1": (62, 1, 0), "signal a process of the host": (62, 4321, 0)})
        # Process 1 is bwrap's own child inside; there is no other.
        assert answers["signal a process of the host"] == errno.ESRCH
        return
    assert guest_calls(sandbox, SHARED_TREE) == dict.fromkeys(SHARED_TREE, errno.EPERM)
    calls = {name: words for name, (words, _) in OTHERWISE.items()}
    assert guest_calls(sandbox, calls) == {name: answer for name, (_, answer) in OTHERWISE.items()}


ARROW = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
r, w = os.pipe()
libc.fcntl(r, 10, 9)
libc.fcntl(r, 8, int(sys.argv[1]))
libc.fcntl(r, 4, 0o20000)
os.write(w, b"x")
print("done")
"""
"""Lets the kernel send SIGKILL to a process when a pipe becomes readable: F_SETSIG, F_SETOWN, F_SETFL with O_ASYNC."""


def test_a_descriptor_sends_no_signal(sandbox: OneWay) -> None:
    """The kernel signals the owner of a descriptor in the guest's name; the twin without a sandbox kills."""
    with subprocess.Popen(["sleep", "60"]) as victim:
        run = run_python(sandbox, ARROW, words=(str(victim.pid),), read_only=_ctypes())
        assert run.output == b"done\n"
        assert victim.poll() is None
        subprocess.run([sys.executable, "-c", ARROW, str(victim.pid)], check=True, capture_output=True)
        assert victim.wait(timeout=10) == -signal.SIGKILL


MARK = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
file = os.open(sys.argv[1], os.O_RDONLY)
flags = ctypes.c_long(0)
if libc.ioctl(file, ctypes.c_ulong(0x80086601), ctypes.byref(flags)) == 0:
    flags.value |= 0x40
print(libc.ioctl(file, ctypes.c_ulong(0x40086602), ctypes.byref(flags)))
"""
"""Sets `do not dump` (chattr +d) on a file through a descriptor that only reads."""


def test_flags_of_a_given_file_stay(sandbox: OneWay, tmp_path: Path) -> None:
    """FS_IOC_SETFLAGS asks who owns a file, not how it was opened; the twin without a sandbox changes it."""
    given = tmp_path / "given"
    given.write_text("x", encoding="utf-8")
    words = (sandbox.place(given, "/given"),)
    assert run_python(sandbox, MARK, words=words, read_only={given: "/given", **_ctypes()}).output == b"-1\n"
    free = subprocess.run([sys.executable, "-c", MARK, given], check=True, capture_output=True).stdout
    assert free in (b"0\n", b"-1\n")  # -1 where the file system keeps no flags


def _ctypes() -> dict[Path, str]:
    return {**libraries_of(list(Path(ctypes.__file__).parent.parent.glob("lib-dynload/_ctypes.*.so")))}


def test_unknown_calls_are_missing(sandbox: OneWay) -> None:
    calls = {"clone3": MISSING["clone3"], "a call of tomorrow": (600, 0, 0)}
    if sandbox.shares_tree:
        calls["openat2"] = MISSING["openat2"]
    assert guest_calls(sandbox, calls) == dict.fromkeys(calls, errno.ENOSYS)


PARENT = """
import os, sys
from tests.contract.sandbox.conftest import CONFINING, OneWay, run_python
from tests.contract.sandbox.test_kernel_doors import _ctypes
print(os.getpid(), flush=True)
code = "import ctypes, time; ctypes.CDLL(None).prctl(1, 0, 0, 0, 0); time.sleep(60)"
run_python(OneWay(CONFINING[sys.argv[1]]), code, read_only=_ctypes(), words=("orphan-marker-" + sys.argv[2],))
"""


@pytest.mark.parametrize("way", CONFINING)
def test_a_guest_dies_with_a_parent_that_is_killed(way: str) -> None:
    """`kill -9` of the process that started it leaves nothing running, though the guest asks to live on."""
    marker = f"orphan-marker-{os.getpid()}"
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, way, str(os.getpid())], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().strip() == str(parent.pid)
        _until(lambda: _guests(marker, parent.pid) != [], "the guest runs")
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    _until(lambda: _guests(marker, parent.pid) == [], "the guest is gone")


def _guests(marker: str, parent: int) -> list[str]:
    """Processes that hold the marker on their command line, but for the parent."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "cmdline").read_bytes() and int(folder.name) != parent:
                found.append(folder.name)
        except OSError:
            continue
    return found


def _until(holds: object, what: str) -> None:
    deadline = time.monotonic() + 30
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


PEAK = """
import resource, sys
from dataclasses import replace
from tests.contract.sandbox.conftest import CONFINING, LIMITS, OneWay, run_python, request_for
sandbox = OneWay(CONFINING[sys.argv[1]])
run_python(sandbox, "print('x')")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
code = "import os\\nfor _ in range(200): os.write(1, b'x' * (1 << 20))"
import tempfile
taken = [0]
def take(chunk):
    taken[0] += len(chunk)
with tempfile.TemporaryFile() as nothing:
    outcome = sandbox.run(request_for(code, replace(LIMITS, output_bytes=1 << 30)), nothing, take)
print(outcome.ending, taken[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("way", CONFINING)
def test_two_hundred_megabytes_in_one_line_take_no_memory_here(way: str) -> None:
    """Chunks are handed on as they come; the parent grows by less than a tenth of what passes."""
    done = subprocess.run([sys.executable, "-c", PEAK, way], capture_output=True, text=True, check=True)
    ending, taken, grown = done.stdout.split()
    assert (ending, int(taken)) == ("exited", 200 << 20)
    assert int(grown) < 20 << 10


def test_names_cannot_be_looked_up(sandbox: OneWay) -> None:
    """No DNS: neither by the C library nor by a packet of one's own."""
    code = f"""{ATTEMPT}
import _socket
attempt(lambda: _socket.getaddrinfo("example.org", 80))
attempt(lambda: _socket.getaddrinfo("localhost", 80))
attempt(lambda: _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.53", 53)))
"""
    run = run_python(sandbox, code)
    assert run.output == b"gaierror\ngaierror\nPermissionError\n"
