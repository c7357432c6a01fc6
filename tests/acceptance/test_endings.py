"""Commands that are stopped, fed errors or left without a reader: a code, a message, and no half of anything.

Signals, kills and errors come from strace, at every call in turn, outside of every line of ours.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.endings import Commands, Ending

VECTORS = Path(__file__).parent.parent / "vectors" / "releases"
SUMS, PACKING = VECTORS / "small-sums-1.0.0", VECTORS / "packing-lists-1.0.0"
CHANGING = ("openat", "write", "fsync", "rename", "mkdir", "unlink", "unlinkat", "rmdir", "fchmod", "flock")
COMMANDS = {
    "import": ["import", str(PACKING)],
    "export": ["export", "small-sums@1.0.0", "out"],
    "gc": ["gc", "--remove", "small-sums@1.0.0"],
}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="endings-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def commands(place: Path) -> Iterator[Commands]:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed; `make system` installs it")
    with Commands(place) as made:
        yield made


@pytest.fixture(scope="module")
def template(place: Path, commands: Commands) -> Path:
    """A home with one release."""
    folder = place / "template"
    folder.mkdir()
    assert commands.run(["import", str(SUMS)], folder).code == 0
    return folder


def fresh(template: Path, name: str = "work") -> Path:
    folder = template.parent / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    return folder


def whole_folder(folder: Path) -> None:
    """Each file is what the manifest lists: by `jq` and `sha256sum`."""
    listed = """jq -r '.files[] | "\\(.sha256)  \\(.path)"' manifest.json | sha256sum --quiet -c"""
    subprocess.run(listed, shell=True, cwd=folder, check=True, capture_output=True)


def whole_store(folder: Path) -> set[str]:
    """The releases of a store, each with all that its manifest lists, under the name that `sha256sum` gives it."""
    store = folder / "home" / "store"
    objects = sorted(path for path in (store / "objects").glob("*/*"))
    if objects:
        done = subprocess.run(["sha256sum", *objects], capture_output=True, check=True, text=True)
        assert done.stdout.split()[::2] == [path.parent.name + path.name for path in objects]
    there = {path.parent.name + path.name for path in objects}
    releases = {path.name for path in (store / "releases").glob("*")}
    for release in releases:
        manifest = store / "objects" / release[:2] / release[2:]
        needed = subprocess.run(["jq", "-r", ".files[].sha256", manifest], capture_output=True, check=True, text=True)
        assert set(needed.stdout.split()) <= there
    return releases


def state(command: str, folder: Path) -> str:
    """`old` or `new`, by other tools than ours; a half state is neither and fails."""
    releases = whole_store(folder)
    if command == "import":
        return {1: "old", 2: "new"}[len(releases)]
    if command == "gc":
        return {1: "old", 0: "new"}[len(releases)]
    if not (folder / "out").exists():
        return "old"
    whole_folder(folder / "out")
    return "new"


def leftovers(folder: Path) -> list[str]:
    found = [path.name for path in folder.glob(".*.tmp")]
    return found + [path.name for path in (folder / "home" / "store" / "tmp").glob("*")]


def steps(commands: Commands, template: Path, command: str) -> Iterator[tuple[str, int]]:
    """Each call that an undisturbed command makes, by its number among those of its name."""
    folder = fresh(template)
    ending = commands.traced(COMMANDS[command], folder)
    assert (ending.code, ending.err) == (0, "")
    assert state(command, folder) == "new"
    for call in CHANGING:
        for number in range(1, ending.calls[call] + 1):
            yield call, number


def polite(ending: Ending, where: str) -> None:
    assert "Traceback" not in ending.err, where
    assert "internal" not in ending.err, where


@pytest.mark.parametrize(
    ("command", "signal"),
    [
        ("export", "INT"),
        ("gc", "TERM"),
        *(pytest.param("import", signal, marks=pytest.mark.slow) for signal in ("INT", "TERM", "HUP")),
        *(pytest.param("export", signal, marks=pytest.mark.slow) for signal in ("TERM", "HUP")),
        *(pytest.param("gc", signal, marks=pytest.mark.slow) for signal in ("INT", "HUP")),
    ],
)
def test_a_signal_at_every_call(command: str, signal: str, commands: Commands, template: Path) -> None:
    """130 and one line, or the command was through; nothing temporary is left."""
    stopped = 0
    for call, number in steps(commands, template, command):
        folder = fresh(template)
        ending = commands.traced(COMMANDS[command], folder, f"{call}:signal={signal}:when={number}")
        where = f"{command} {call} {number}: {ending}"
        polite(ending, where)
        assert ending.signal == 0, where
        assert (ending.code, ending.err) in ((130, "interrupted; everything counted is on disk\n"), (0, "")), where
        assert leftovers(folder) == [], where
        assert state(command, folder) == "new" or ending.code == 130, where
        stopped += ending.code == 130
    assert stopped >= 10


def test_an_export_that_was_killed_leaves_nothing_to_the_next(commands: Commands, template: Path) -> None:
    """The folder is there whole or not at all; the same command then makes it, and tidies up after the killed one."""
    left = 0
    for call, number in steps(commands, template, "export"):
        folder = fresh(template)
        ending = commands.traced(COMMANDS["export"], folder, f"{call}:signal=KILL:when={number}")
        where = f"{call} {number}: {ending}"
        assert ending.signal == 9, where
        left += bool(leftovers(folder))
        if state("export", folder) == "old":
            again = commands.run(COMMANDS["export"], folder)
            assert (again.code, again.err) == (0, ""), where
        assert state("export", folder) == "new", where
        assert sorted(path.name for path in folder.iterdir()) == ["home", "out"], where
    assert left >= 5


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_an_export_onto_a_failing_disk(error: str, commands: Commands, template: Path) -> None:
    """From that call on every call of its kind fails; of writing one alone, since nothing makes `/dev/null` fail."""
    for call, number in steps(commands, template, "export"):
        if call in ("openat", "flock"):
            continue
        folder = fresh(template)
        ending = commands.traced(
            COMMANDS["export"], folder, f"{call}:error={error}:when={number}{'' if call == 'write' else '+'}"
        )
        where = f"{call} {number}: {ending}"
        polite(ending, where)
        assert (ending.code, ending.signal) in ((4, 0), (0, 0)), where
        if call != "write":
            assert ending.code == 0 or "out" in ending.err, where
        assert leftovers(folder) == [] or call in ("unlink", "unlinkat", "rmdir"), where
        state("export", folder)


@pytest.mark.parametrize("command", ["export", "gc", pytest.param("import", marks=pytest.mark.slow)])
def test_an_interrupted_call_is_made_again(command: str, commands: Commands, template: Path) -> None:
    """EINTR is no error (PEP 475). Opening is left out: no local file system interrupts it."""
    for call, number in steps(commands, template, command):
        if call not in ("write", "fsync", "flock"):
            continue
        folder = fresh(template)
        ending = commands.traced(COMMANDS[command], folder, f"{call}:error=EINTR:when={number}")
        assert (ending.code, ending.err) == (0, ""), f"{call} {number}: {ending}"
        assert state(command, folder) == "new"


@pytest.mark.parametrize("command", ["import", "export"])
def test_bytes_are_on_the_disk_before_their_name_and_names_before_what_needs_them(
    command: str, commands: Commands, template: Path
) -> None:
    """Each file: written, synced, then renamed; each folder synced after; a release's entry after all its objects."""
    folder = fresh(template)
    trace = commands.traced(COMMANDS[command], folder).trace
    unsynced: set[str] = set()
    dirty: set[str] = set()
    renamed = 0
    for line in trace.splitlines():
        name = re.match(r"\d+ +(\w+)\(", line)
        path = re.match(r"\d+ +\w+\(\d+<([^>]*)>", line)
        quoted = [str(folder / text) for text in re.findall(r'"([^"]*)"', line)]
        if name is None or " = -1 " in line:
            continue
        if name[1] == "write" and path:
            unsynced.add(path[1])
        elif name[1] == "fsync" and path:
            unsynced.discard(path[1])
            dirty.discard(path[1])
        elif name[1] == "mkdir" or (name[1] == "openat" and "O_CREAT" in line):
            dirty.add(str(Path(quoted[0]).parent))
        elif name[1] == "rename":
            source, target = quoted
            renamed += 1
            assert not {one for one in unsynced if Path(one).is_relative_to(source)}, line
            if Path(target).parent.name == "releases":
                assert not {one for one in dirty if "/objects/" in one}, line
            if command == "export":
                assert source not in dirty, line
            dirty.add(str(Path(target).parent))
    assert renamed >= (1 if command == "export" else 4)
    assert not {one for one in dirty if not one.endswith(("/tmp", "/store")) and "/tmp/tmp" not in one}


ANSWERS = [
    ["list"],
    ["list", "--json"],
    ["show", "small-sums@1.0.0"],
    ["show", "--json", "small-sums@1.0.0"],
    ["verify", "small-sums@1.0.0"],
    ["verify", "--json", "small-sums@1.0.0"],
    ["import", str(SUMS)],
    ["prove", "--json", "small-sums@1.0.0", "sums/add-1"],
    ["du"],
    ["gc", "--json"],
    ["--version"],
    ["--help"],
    *([name, "--help"] for name in ("inspect", "transform", "transform-batch", "compile", "diff", "eval", "grade")),
]


@pytest.mark.parametrize("arguments", ANSWERS, ids=" ".join)
def test_an_answer_that_cannot_be_printed(arguments: list[str], commands: Commands, template: Path) -> None:
    """A full disk behind standard output is said, a reader that went away needs no word; neither is a `no` (1)."""
    folder = fresh(template)
    good = commands.run(arguments, folder)
    full = commands.run(arguments, fresh(template), out=Path("/dev/full"))
    gone = commands.run(arguments, fresh(template), out=Path("|"))
    mute = commands.run(arguments, fresh(template), err=Path("/dev/full"))
    neither = commands.run(arguments, fresh(template), out=Path("/dev/full"), err=Path("/dev/full"))
    if good.out == "":
        assert {full.code, gone.code, mute.code, neither.code} == {good.code}
        return
    assert (full.code, gone.code, gone.err, neither.code) == (4, 4, "", 4)
    assert full.err.splitlines()[0] == "error: standard output: no space left on device"
    polite(full, str(full))
    assert mute.code == good.code == 0


@pytest.mark.parametrize(
    ("arguments", "code"), [(["show", "nothing"], 3), (["show", "--json", "nothing"], 3), (["frob"], 2)]
)
def test_an_error_that_cannot_be_printed_keeps_its_code(
    arguments: list[str], code: int, commands: Commands, template: Path
) -> None:
    folder = fresh(template)
    for out, err in (("/dev/full", None), ("|", None), (None, "/dev/full"), (None, "|"), ("/dev/full", "/dev/full")):
        ending = commands.run(arguments, folder, out=out and Path(out), err=err and Path(err))
        assert (ending.code, ending.signal) == (code, 0), (out, err)
        polite(ending, str(ending))
