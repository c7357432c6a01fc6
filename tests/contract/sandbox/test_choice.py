"""Which way is chosen, and that nothing runs where none holds."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.sandbox.conftest import CONFINING, changed_launcher, request_for
from trunchbuild.core.confinement import SandboxOutcome, SandboxRequest, SandboxUnavailableError
from trunchbuild.effects.runtime._python_layout import GUEST_FOLDER, probe_request
from trunchbuild.effects.sandbox._bubblewrap import Bubblewrap
from trunchbuild.effects.sandbox._confined import ConfinedSandbox
from trunchbuild.effects.sandbox._cures import cure_of
from trunchbuild.effects.sandbox._landlock import Landlock
from trunchbuild.effects.sandbox._launch import Launch, Way
from trunchbuild.effects.sandbox._none import NoSandbox
from trunchbuild.errors import Fault

REAL = "bubblewrap of the wheel"


class CountingWay:
    """A way that counts how often it is used."""

    def __init__(self, real: Way, identity: str = "one") -> None:
        self.real = real
        self.identity = identity
        self.launches = 0
        self.probe_words = real.probe_words

    @property
    def name(self) -> str:
        return self.real.name

    def missing(self) -> Fault | None:
        return self.real.missing()

    def launch(self, request: SandboxRequest) -> Launch:
        self.launches += 1
        return self.real.launch(request)

    def ran(self, status: bytes) -> bool:
        return self.real.ran(status)

    def setup_fault(self, outcome: SandboxOutcome) -> Fault:
        return self.real.setup_fault(outcome)


class OpenWay(CountingWay):
    """Claims to confine and does not: the program runs as it is, with a true-looking report."""

    name = "open"

    def __init__(self) -> None:
        self.identity = "open"
        self.launches = 0
        self.probe_words = ()

    def missing(self) -> None:
        return None

    def launch(self, request: SandboxRequest) -> Launch:
        self.launches += 1
        layout = {inside: str(host) for host, inside in request.read_only.items()}
        argv = [layout.get(word, word) for word in request.argv]
        return Launch(["/bin/sh", "-c", 'echo \'{ "exit-code": 0 }\' >&2; exec "$@"', "x", *argv], {"SECRET": "1"})

    def ran(self, status: bytes) -> bool:
        return True

    def setup_fault(self, outcome: SandboxOutcome) -> Fault:
        return Fault("open", "could not start")


def script(folder: Path, text: str) -> Bubblewrap:
    """A stand-in for bwrap."""
    path = folder / "bwrap"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Bubblewrap("stand-in", path)


def run(sandbox: ConfinedSandbox) -> bytes:
    output: list[bytes] = []
    with tempfile.TemporaryFile() as nothing:
        sandbox.run(request_for("print('ran')"), nothing, output.append)
    return b"".join(output)


def test_the_first_way_that_holds_is_chosen(tmp_path: Path) -> None:
    broken = script(tmp_path, "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    real = CountingWay(CONFINING[REAL])
    sandbox = ConfinedSandbox([broken, real], probe_request())
    assert run(sandbox) == b"ran\n"
    assert real.launches == 2
    assert sandbox.name.startswith("bubblewrap 0.")


def test_a_way_that_does_not_hold_runs_nothing() -> None:
    """The probe gets out, so the guest never starts."""
    sandbox = ConfinedSandbox([OpenWay()], probe_request())
    with pytest.raises(SandboxUnavailableError) as caught:
        run(sandbox)
    assert caught.value.exit_code == 4
    # What the probe could do outside, it undid.
    assert not [
        path for path in (*GUEST_FOLDER.iterdir(), Path("/written")) if path.exists() and "written" in path.name
    ]


def test_every_way_is_listed_with_its_reason(tmp_path: Path) -> None:
    missing = Bubblewrap("absent", None)
    old = script(tmp_path, "echo 'bwrap: Unknown option --disable-userns' >&2; exit 1")
    with pytest.raises(SandboxUnavailableError) as caught:
        run(ConfinedSandbox([missing, old], probe_request()))
    absent, outdated = caught.value.faults
    assert (absent.place, absent.message) == ("absent", "not installed")
    assert "Unknown option --disable-userns" in outdated.message
    assert outdated.hint is not None
    assert "0.8 or later" in outdated.hint
    assert "--unsafe-no-sandbox" in str(caught.value.hint)


def test_no_way_at_all_is_a_refusal() -> None:
    with pytest.raises(SandboxUnavailableError):
        run(ConfinedSandbox([], probe_request()))


def test_a_way_that_held_is_remembered_until_something_changes(tmp_path: Path) -> None:
    first = CountingWay(CONFINING[REAL])
    assert run(ConfinedSandbox([first], probe_request(), tmp_path / "memory")) == b"ran\n"
    again = CountingWay(CONFINING[REAL])
    assert run(ConfinedSandbox([again], probe_request(), tmp_path / "memory")) == b"ran\n"
    changed = CountingWay(CONFINING[REAL], identity="two")
    assert run(ConfinedSandbox([changed], probe_request(), tmp_path / "memory")) == b"ran\n"
    assert (first.launches, again.launches, changed.launches) == (2, 1, 2)


def test_a_way_that_did_not_hold_is_never_remembered(tmp_path: Path) -> None:
    for _ in range(2):
        way = OpenWay()
        with pytest.raises(SandboxUnavailableError):
            run(ConfinedSandbox([way], probe_request(), tmp_path / "memory"))
        assert way.launches == 1


def test_a_remembered_way_that_breaks_runs_nothing_and_is_forgotten(tmp_path: Path) -> None:
    """The tool may stop working after the probe; the refusal comes from the run itself."""
    memory = tmp_path / "memory"
    run(ConfinedSandbox([CountingWay(CONFINING[REAL])], probe_request(), memory))
    broken = CountingWay(script(tmp_path, "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1"))
    with pytest.raises(SandboxUnavailableError, match="uid map"):
        run(ConfinedSandbox([broken], probe_request(), memory))
    assert list(memory.iterdir()) == []


def test_a_setup_that_fails_is_told_from_a_guest_that_fails() -> None:
    """A file that is not there is ours; an exit code of 1 is the guest's."""
    sandbox = ConfinedSandbox([CONFINING[REAL]], probe_request())
    absent = request_for("pass", read_only={Path("/no/such/file"): "/x"})
    with pytest.raises(SandboxUnavailableError, match="no/such/file"):
        _with_nothing(sandbox, absent)
    assert _with_nothing(sandbox, request_for("raise SystemExit(1)")).code == 1


def _with_nothing(sandbox: ConfinedSandbox, request: SandboxRequest) -> SandboxOutcome:
    ignore: Callable[[bytes], None] = lambda chunk: None  # noqa: E731
    with tempfile.TemporaryFile() as nothing:
        return sandbox.run(request, nothing, ignore)


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        ("bwrap: Unknown option --disable-userns", "too old"),
        ("bwrap: prctl(PR_SET_SECCOMP) failed: Invalid argument", "CONFIG_SECCOMP_FILTER"),
        ("bwrap: Can't find source path /root/x: Permission denied", "readable"),
        ("bwrap: No permissions to create new namespace", "seccomp=unconfined"),
        ("landlock launcher: Landlock: Function not implemented (errno 38)", "lsm="),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "seccomp=unconfined"),
    ],
)
def test_known_failures_have_a_cure(words: str, cure: str) -> None:
    """The words are bubblewrap's own (bubblewrap.c, utils.c, network.c)."""
    hint = cure_of(words)
    assert hint is not None
    assert cure in hint or "apparmor" in hint or "sysctl" in hint


APPARMOR = "kernel/apparmor_restrict_unprivileged_userns"
NO_NAMESPACE = "bwrap: setting up uid map: Permission denied"


@pytest.mark.parametrize(
    ("settings", "words", "cure"),
    [
        ({APPARMOR: "1"}, NO_NAMESPACE, "apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"),
        ({APPARMOR: "0"}, NO_NAMESPACE, "--security-opt seccomp=unconfined"),
        ({"kernel/unprivileged_userns_clone": "0"}, NO_NAMESPACE, "`sysctl kernel.unprivileged_userns_clone=1`"),
        ({"kernel/unprivileged_userns_clone": "1"}, NO_NAMESPACE, "--security-opt seccomp=unconfined"),
        ({"user/max_user_namespaces": "0"}, NO_NAMESPACE, "`sysctl user.max_user_namespaces=15000`"),
        ({"user/max_user_namespaces": "63000"}, NO_NAMESPACE, "--security-opt seccomp=unconfined"),
        # The words win over a setting that has nothing to do with them.
        ({APPARMOR: "1"}, "bwrap: Can't find source path /x: Permission denied", "readable"),
        ({}, "landlock launcher: Landlock: Function not implemented (errno 38)", "CONFIG_SECURITY_LANDLOCK"),
        ({}, "Landlock: Operation not supported", "switched off at boot: add `landlock` to the boot parameter `lsm=`"),
    ],
)
def test_cures_follow_the_settings_of_the_kernel(
    settings: dict[str, str], words: str, cure: str, tmp_path: Path
) -> None:
    """The names are those of /proc/sys (Documentation/admin-guide/sysctl), Debian's and Ubuntu's patches."""
    for name, value in settings.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n", encoding="ascii")
    assert cure in str(cure_of(words, tmp_path))


def test_words_that_nobody_knows_have_no_cure(tmp_path: Path) -> None:
    assert cure_of("bwrap: the moon is full", tmp_path) is None


WEAKER = {
    "without the filter": ('cut("--seccomp", 2)', "open a socket"),
    "with the host's network and without the filter": ('cut("--seccomp", 2); add("--share-net")', "open a socket"),
    "with the host's tree": ('add("--ro-bind", "/etc", "/etc")', "read /etc/passwd"),
    "with processes": ('add("--proc", "/proc")', "read /proc/self/status"),
    "with devices": ('add("--dev", "/dev")', "list /dev"),
    "with a temporary folder": ('add("--tmpfs", "/tmp")', "write /tmp/written"),
    "with a variable of the host": ('add("--setenv", "SECRET", "1")', "see the host's environment"),
    "with a descriptor": ('os.dup2(os.open("/etc/passwd", os.O_RDONLY), 40)', "use open descriptors"),
    "with another user": ('change("--uid", "1000")', "keep the host's user"),
}
"""A change of bubblewrap's command -> what the probe then says."""

WRAPPER = """#!{python} -IS
import os, sys
words = sys.argv[1:]
def cut(name, count):
    at = words.index(name)
    del words[at : at + count]
def add(*more):
    at = words.index("--chdir") - len(["--remount-ro", "/"])
    words[at:at] = more
def change(name, value):
    words[words.index(name) + 1] = value
if words != ["--version"]:
    {change}
os.execv({real!r}, [{real!r}, *words])
"""


@pytest.mark.parametrize("weakness", WEAKER)
def test_a_weakened_bubblewrap_is_refused(weakness: str, tmp_path: Path) -> None:
    """The program is the real one with one thing less, or one thing more; nothing runs."""
    real = CONFINING[REAL]
    assert isinstance(real, Bubblewrap)
    change, said = WEAKER[weakness]
    path = tmp_path / "bwrap"
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    path.write_text(WRAPPER.format(python=python, change=change, real=str(real.program)), encoding="utf-8")
    path.chmod(0o755)
    with pytest.raises(SandboxUnavailableError) as caught:
        run(ConfinedSandbox([Bubblewrap("weaker", path)], probe_request()))
    assert "does not hold" in caught.value.faults[0].message
    assert said in str(caught.value.faults[0].got)


def test_the_wrapper_itself_weakens_nothing(tmp_path: Path) -> None:
    real = CONFINING[REAL]
    assert isinstance(real, Bubblewrap)
    path = tmp_path / "bwrap"
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    path.write_text(WRAPPER.format(python=python, change="pass", real=str(real.program)), encoding="utf-8")
    path.chmod(0o755)
    assert run(ConfinedSandbox([Bubblewrap("the same", path)], probe_request())) == b"ran\n"


def test_the_unsafe_back_end_says_so() -> None:
    assert NoSandbox().name == "none (unsafe)"


def test_the_launcher_as_it_is_holds(tmp_path: Path) -> None:
    assert run(ConfinedSandbox([Landlock(tmp_path / "trees")], probe_request())) == b"ran\n"


@pytest.mark.parametrize("step", ["    restrict_files(order)\n", "        install_filter(program)\n"])
def test_a_weakened_launcher_is_refused(step: str, tmp_path: Path) -> None:
    """Without the rules on files, or without the filters, the probe gets out."""
    way = changed_launcher(tmp_path, step, f"{step[: len(step) - len(step.lstrip())]}pass\n")
    with pytest.raises(SandboxUnavailableError) as caught:
        run(ConfinedSandbox([way], probe_request()))
    assert "does not hold" in caught.value.faults[0].message


BROKEN_CALLS = {
    "no_new_privs": ("PR_SET_NO_NEW_PRIVS, 1)", "PR_SET_NO_NEW_PRIVS, 2)"),
    "dropping the capabilities": ("CAPSET[machine], header", "CAPSET[machine], bytes(8)"),
    "landlock_create_ruleset": ("ctypes.c_size_t(len(attributes))", "ctypes.c_size_t(1)"),
    "landlock_restrict_self": ("RESTRICT_SELF, ctypes.c_int(ruleset)", "RESTRICT_SELF, ctypes.c_int(-1)"),
    "PR_SET_SECCOMP": ("SECCOMP_MODE_FILTER, ctypes", "99, ctypes"),
    "the parent is gone": ('!= order["parent"]', '== order["parent"]'),
}


@pytest.mark.parametrize("step", BROKEN_CALLS)
def test_a_step_that_fails_ends_the_launcher(step: str, tmp_path: Path) -> None:
    """Each call's failure is an end with its name and the system's words, never a start without it."""
    with pytest.raises(SandboxUnavailableError, match=step):
        run(ConfinedSandbox([changed_launcher(tmp_path, *BROKEN_CALLS[step])], probe_request()))
