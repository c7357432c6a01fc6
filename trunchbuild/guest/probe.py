"""Tries to get out of the sandbox. Prints `confined` when every attempt failed, else what succeeded.

Run as `python probe.py NAME ... [--own-user]`; the names are the environment variables that were given. `--own-user`
is for a way of confinement that leaves the guest its user: it must then not be able to use that user's rights.
"""

import _socket
import os
import resource
import sys


def attempts():
    """Yield what a guest may not do, as (name, function); a function that returns without an error got out."""
    for family in ("AF_INET", "AF_INET6", "AF_UNIX"):
        for kind in ("SOCK_STREAM", "SOCK_DGRAM"):
            yield (
                f"open a socket ({family}, {kind})",
                lambda f=family, k=kind: _socket.socket(getattr(_socket, f), getattr(_socket, k)),
            )
    for path in ("/etc/passwd", "/etc/hostname", "/etc/resolv.conf", "/proc/self/status", "/proc/1/environ"):
        yield f"read {path}", lambda p=path: os.open(p, os.O_RDONLY)
    for path in ("/proc", "/sys", "/dev", "/home", "/root", "/tmp", "/var"):
        yield f"list {path}", lambda p=path: os.scandir(p)
    for path in ("/written", "/tmp/written", __file__ + ".written"):
        yield f"write {path}", lambda p=path: write(p)
    yield "change the runner", lambda: os.open(__file__, os.O_WRONLY)
    yield "start a process", fork
    yield "signal a process of the host", lambda: os.kill(os.getppid(), 0) if os.getppid() > 1 else fail()
    yield "raise its own limits", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    yield "use open descriptors of the host", descriptors
    yield "see the host's environment", lambda: set(os.environ) - {"PWD", *sys.argv[1:]} or fail()
    if "--own-user" not in sys.argv:
        yield "keep the host's user", lambda: fail() if os.getuid() == 65534 else None
    yield "become another user", lambda: os.setresuid(12345, 12345, 12345)
    yield "change the mode of a file", lambda: os.chmod(__file__, os.stat(__file__).st_mode & 0o7777)
    yield "change the times of a file", lambda: keep_times(__file__)
    yield "use memory without limit", lambda: fail() if resource.getrlimit(resource.RLIMIT_AS)[1] > 0 else None


def fail():
    """The attempt did not get anywhere."""
    raise OSError


def write(path):
    """Make a file; one that could be made does not stay."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)


def keep_times(path):
    """Write the times that a file has."""
    state = os.stat(path)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def fork():
    """Start a process; the child of a success leaves at once."""
    if os.fork() == 0:
        os._exit(0)


def descriptors():
    """Use a descriptor beyond the three standard ones."""
    for number in range(3, 256):
        try:
            os.fstat(number)
        except OSError:
            continue
        return
    fail()


def main():
    """Try everything; say what worked."""
    escaped = []
    for name, attempt in attempts():
        try:
            attempt()
        except (OSError, ValueError):
            continue
        escaped.append(name)
    print("; ".join(escaped) or "confined")


main()
