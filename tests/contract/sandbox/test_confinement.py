"""What no guest may reach, whichever way confines it. Every refusal has its twin: the host can do the same."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.contract.sandbox.conftest import ATTEMPT, OneWay, request_for, run_python
from trunchbuild.effects.runtime._libraries import libraries_of

REFUSED = {b"PermissionError", b"FileNotFoundError", b"OSError"}


def attempts(sandbox: OneWay, code: str, **changes: object) -> list[bytes]:
    run = run_python(sandbox, ATTEMPT + code, **changes)
    assert run.outcome.ending == "exited", run.outcome
    assert run.outcome.code == 0, run.outcome
    return run.output.split(b"\n")[:-1]


CLIENT = """
import _socket
def talk():
    one = _socket.socket({family}, {kind})
    one.settimeout(1)
    one.connect({address!r})
    one.send(b"hello")
attempt(talk)
"""


def heard(server: socket.socket) -> bool:
    server.settimeout(0.2)
    try:
        if server.type == socket.SOCK_DGRAM:
            server.recv(16)
        else:
            server.accept()[0].close()
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
@pytest.mark.parametrize("place", ["tcp", "abstract", "file"])
def test_network_is_unreachable(sandbox: OneWay, kind: str, place: str) -> None:
    """A program that reaches a server of the host when it runs freely reaches nothing when confined."""
    with tempfile.TemporaryDirectory() as folder:
        family = "AF_INET" if place == "tcp" else "AF_UNIX"
        with socket.socket(getattr(socket, family), getattr(socket, kind)) as server:
            path = f"{folder}/server"
            server.bind({"tcp": ("127.0.0.1", 0), "abstract": b"\0trunchbuild-test", "file": path}[place])
            if kind == "SOCK_STREAM":
                server.listen()
            address = server.getsockname()
            constants = {"family": f"_socket.{family}", "kind": f"_socket.{kind}"}
            code = CLIENT.format(address=address, **constants)
            subprocess.run([sys.executable, "-c", ATTEMPT + code], check=True, capture_output=True)
            assert heard(server)
            inside = CLIENT.format(
                address=sandbox.place(Path(path), "/shared/server") if place == "file" else address, **constants
            )
            assert attempts(sandbox, inside, read_only={Path(folder): "/shared"}) == [b"PermissionError"]
            assert not heard(server)


def test_only_the_given_files_exist(sandbox: OneWay, tmp_path: Path) -> None:
    """Neither the host's files nor links to them lead out; the given folder is there."""
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "file").write_text("given", encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (tmp_path / "given" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "given" / "passwd").symlink_to("/etc/passwd")
    given = sandbox.place(tmp_path / "given", "/given")
    code = f"""
import os
for name in ("file", "link", "passwd"):
    attempt(lambda: open({given!r} + "/" + name).read())
for path in ({str(tmp_path / "secret")!r}, "/etc/passwd", "/etc/shadow", "/etc/hostname", "/proc/self/environ"):
    attempt(lambda: open(path).read())
for path in ({str(tmp_path)!r}, "/etc", "/proc", "/home", "/tmp"):
    attempt(lambda: os.listdir(path))
attempt(lambda: sorted(os.listdir("/")))
"""
    answers = attempts(sandbox, code, read_only={tmp_path / "given": "/given"})
    assert answers[0] == b"did given"
    if sandbox.shares_tree:
        assert answers[1:] == [b"PermissionError"] * 13
    else:
        assert answers[1:-1] == [b"FileNotFoundError"] * 12
        assert set(eval(answers[-1].removeprefix(b"did "))) <= {"given", "lib", "lib64", "usr", "python"}


def test_nothing_can_be_written(sandbox: OneWay, tmp_path: Path) -> None:
    """Not the root, not a given file or folder, not the working folder, not the temporary folder."""
    (tmp_path / "file").write_text("before", encoding="utf-8")
    (tmp_path / "file").chmod(0o666)
    tmp_path.chmod(0o777)
    code = f"""
import os
given = {sandbox.place(tmp_path, "/given")!r}
for path in ("/new", given + "/new", given + "/file", "new", "/tmp/new", "/dev/shm/new"):
    attempt(lambda: open(path, "w").write("after"))
attempt(lambda: os.close(os.open(given + "/file", os.O_RDONLY | os.O_TRUNC)))
attempt(lambda: os.truncate(given + "/file", 0))
attempt(lambda: os.unlink(given + "/file"))
attempt(lambda: os.rename(given + "/file", given + "/other"))
attempt(lambda: os.link(given + "/file", given + "/other"))
attempt(lambda: os.symlink("file", given + "/other"))
attempt(lambda: os.mkdir("/folder"))
attempt(lambda: os.mkdir(given + "/folder"))
attempt(lambda: os.mkfifo(given + "/fifo"))
attempt(lambda: os.chmod(given + "/file", 0o777))
attempt(lambda: os.utime(given + "/file", (0, 0)))
attempt(lambda: os.setxattr(given + "/file", "user.x", b"y"))
attempt(lambda: os.chown(given + "/file", os.getuid(), os.getgid()))
"""
    before = (tmp_path / "file").stat()
    answers = attempts(sandbox, code, read_only={tmp_path: "/given"}, workdir="/work")
    assert set(answers) <= REFUSED
    assert len(answers) == 19
    assert (tmp_path / "file").stat() == before
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "before"


def test_hidden_folders_are_empty(sandbox: OneWay, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "file").write_text("x", encoding="utf-8")
    code = "import os, sys; print(os.listdir(sys.argv[1]), os.listdir(sys.argv[2]))"
    shown = run_python(sandbox, code, words=("/given", "/given/inner"), read_only={tmp_path: "/given"})
    given = {"words": ("/given", "/given/inner"), "read_only": {tmp_path: "/given"}, "hidden": ("/given/inner",)}
    hidden = run_python(sandbox, code, **given)
    assert shown.output == b"['inner'] ['file']\n"
    assert hidden.output == b"['inner'] []\n"
    original = f"open({str(tmp_path / 'inner' / 'file')!r})"
    assert attempts(sandbox, f"attempt(lambda: {original}.read())", **given)[0] in REFUSED


def test_environment_is_what_was_given(sandbox: OneWay) -> None:
    """The host's variables stay outside."""
    assert set(os.environ) - {"LC_ALL", "PWD"}
    run = run_python(sandbox, "import os; print(sorted(os.environ.items()))", environment={"LC_ALL": "C.UTF-8"})
    assert eval(run.output) == [("LC_ALL", "C.UTF-8"), ("PWD", "/")]


def test_no_proc_no_devices(sandbox: OneWay) -> None:
    code = """
import os
for path in ("/proc", "/sys", "/dev", "/dev/shm"):
    attempt(lambda: os.listdir(path))
for path in ("/proc/self/maps", "/proc/1/status", "/sys/kernel/uevent_seqnum", "/dev/null", "/dev/urandom", "/dev/tty"):
    attempt(lambda: os.open(path, os.O_RDONLY))
"""
    assert attempts(sandbox, code) == [b"PermissionError" if sandbox.shares_tree else b"FileNotFoundError"] * 10


def test_one_process_and_no_other(sandbox: OneWay) -> None:
    """No child, no other program, no signal to anybody outside; threads are fine."""
    code = """
import os, _thread
attempt(os.fork)
attempt(lambda: os.posix_spawn("/bin/sh", ["sh"], {}))
attempt(lambda: os.execv("/bin/sh", ["sh", "-c", "exit 0"]))
attempt(lambda: os.kill(4321, 0))
attempt(lambda: os.kill(1, 0) if os.getpid() != 1 else os.kill(2, 0))
lock = _thread.allocate_lock()
lock.acquire()
_thread.start_new_thread(lock.release, ())
lock.acquire()
print("thread ran", os.getpid() < 10)
"""
    answers = attempts(sandbox, code)
    if sandbox.shares_tree:
        assert answers == [b"PermissionError"] * 5 + [b"thread ran False"]
    else:
        assert answers[:3] == [b"PermissionError", b"PermissionError", b"FileNotFoundError"]
        assert answers[3] == b"ProcessLookupError"
        # Process 1 is bwrap's own inside; it is not the host's, and the guest may not signal it either.
        assert answers[5] == b"thread ran True"


def test_identity_is_nobody(sandbox: OneWay) -> None:
    """The guest is nobody on a host of the given name, or keeps its user; it cannot become anybody else."""
    code = """
import os
print(os.getuid(), os.getgid(), os.uname().nodename, os.getcwd())
attempt(lambda: os.setuid(0 if os.getuid() else 12345))
attempt(lambda: os.setresgid(12345, 12345, 12345))
attempt(lambda: os.chroot("/"))
attempt(lambda: os.setgroups([0]))
"""
    answers = attempts(sandbox, code, hostname="other-name", workdir="/some/where")
    if sandbox.shares_tree:
        uid, _, host, folder = answers[0].decode().split()
        assert (int(uid) in {os.geteuid(), 65534}, host, folder) == (True, os.uname().nodename, "/")
    else:
        assert answers[0] == b"65534 65534 other-name /some/where"
    assert set(answers[1:]) <= REFUSED


def test_no_descriptor_leaks(sandbox: OneWay) -> None:
    """Descriptors of the host, even inheritable ones, are closed in the guest."""
    with tempfile.TemporaryFile() as secret:
        os.set_inheritable(secret.fileno(), True)
        code = """
import os
def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
print([number for number in range(1024) if is_open(number)])
"""
        assert run_python(sandbox, code).output == b"[0, 1, 2]\n"


def test_input_arrives_whole_and_stays_as_it_is(sandbox: OneWay) -> None:
    """A guest reads its standard input; it can neither write, cut nor map it, though the host may."""
    data = os.urandom(1 << 20)
    code = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    digest = subprocess.run(["sha256sum"], input=data, capture_output=True, check=True).stdout.split()[0]
    assert run_python(sandbox, code, stdin=data).output.strip() == digest

    extensions = list(Path(os.__file__).parent.glob("lib-dynload/mmap.*.so"))
    attack = (
        ATTEMPT
        + """
import os, mmap
attempt(lambda: os.pwrite(0, b"x", 0))
attempt(lambda: os.ftruncate(0, 1))
attempt(lambda: mmap.mmap(0, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
"""
    )
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        output: list[bytes] = []
        sandbox.run(request_for(attack, read_only=libraries_of(extensions)), file, output.append)
        file.seek(0)
        assert file.read() == data
    assert b"did" not in b"".join(output)
    assert b"".join(output).count(b"\n") == 3
