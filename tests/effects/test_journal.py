"""The journal: what is committed stays, what is not this run's whole journal is refused."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from trunchbuild.core.ids import Digest
from trunchbuild.core.plan import Trial
from trunchbuild.effects.journal._mounts import file_system_of, is_network
from trunchbuild.effects.journal._sqlite import SqliteJournals
from trunchbuild.effects.journal.api import JOURNAL, JournalError, RunLockedError, Spent, StepRecord

RUN = Digest("ab" * 32)
JOURNALS = SqliteJournals()


def step(name: str, **changes: object) -> StepRecord:
    made = StepRecord(
        trial=Trial("sums", name, 0),
        round=0,
        step=0,
        final=True,
        failed=False,
        request=b'{"q":1}',
        http_status=200,
        body=b'{"a":"\xe2\x82\xac"}',
        failure=None,
        started="2027-01-01T00:00:00.000Z",
        latency_ms=1.5,
        usage={"total_tokens": 9},
        retried=[{"outcome": "HTTP 503", "latency_ms": 2.0}],
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def write(folder: Path, *steps: StepRecord, run: Digest = RUN) -> None:
    async def go() -> None:
        with JOURNALS.open(folder, run) as journal:
            for made in steps:
                journal.record(made)
            await journal.flush()

    asyncio.run(go())


def test_what_was_recorded_is_read_back(tmp_path: Path) -> None:
    steps = [step("a"), step("b", failed=True, body=None, http_status=None, failure='{"kind":"transport"}', usage=None)]
    write(tmp_path, *steps)
    reader = JOURNALS.read(tmp_path, RUN)
    assert reader is not None
    with reader as journal:
        assert list(journal.records()) == steps
        assert journal.steps(Trial("sums", "a", 0)) == [steps[0]]
        assert journal.steps(Trial("sums", "z", 0)) == []
        assert journal.recorded() == {steps[0].trial: "answered", steps[1].trial: "failed"}
        # two calls and a retry each; the failed one states no usage, and neither do the retries
        assert journal.spent() == Spent(calls=4, calls_of_unknown_usage=3, tokens=9)


def test_the_latest_round_counts(tmp_path: Path) -> None:
    write(tmp_path, step("a", failed=True), step("a", round=1), step("b", final=False), step("b", step=1, final=False))
    reader = JOURNALS.read(tmp_path, RUN)
    assert reader is not None
    with reader as journal:
        assert journal.recorded() == {Trial("sums", "a", 0): "answered", Trial("sums", "b", 0): "incomplete"}
        assert journal.rounds() == {Trial("sums", "a", 0): 1, Trial("sums", "b", 0): 0}
        assert [made.round for made in journal.steps(Trial("sums", "a", 0))] == [1]
        assert [made.step for made in journal.steps(Trial("sums", "b", 0))] == [0, 1]


def test_one_step_cannot_be_counted_twice(tmp_path: Path) -> None:
    """R70: the database itself refuses a second result for one call."""
    with pytest.raises(JournalError, match="UNIQUE"):
        write(tmp_path, step("a"), step("a"))


def test_a_group_is_committed_after_its_time(tmp_path: Path) -> None:
    """Another connection sees the reply 50 ms later, without a flush."""

    async def go() -> int:
        with JOURNALS.open(tmp_path, RUN) as journal:
            journal.record(step("a"))
            await asyncio.sleep(0.5)
            return count(tmp_path)

    assert asyncio.run(go()) == 1


def test_a_group_is_committed_when_it_is_full(tmp_path: Path) -> None:
    """64 replies are handed to the disk at once."""

    async def go() -> list[int]:
        with JOURNALS.open(tmp_path, RUN) as journal:
            for number in range(64):
                journal.record(step(str(number)))
            seen = []
            for _ in range(200):
                await asyncio.sleep(0)
                seen.append(count(tmp_path))
                if seen[-1]:
                    break
            return seen

    assert asyncio.run(go())[-1] in (0, 64)  # never a part of a group
    assert count(tmp_path) == 64


def test_leaving_commits_what_was_not_flushed(tmp_path: Path) -> None:
    async def go() -> None:
        with JOURNALS.open(tmp_path, RUN) as journal:
            journal.record(step("a"))

    asyncio.run(go())
    assert count(tmp_path) == 1


def test_settings_of_the_database(tmp_path: Path) -> None:
    """Write-ahead log, and a commit that waits for the disk; asked of SQLite itself."""
    with JOURNALS.open(tmp_path, RUN) as journal:
        database = journal._database  # type: ignore[attr-defined]
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def count(folder: Path) -> int:
    with sqlite3.connect(f"{(folder / JOURNAL).as_uri()}?mode=ro", uri=True) as database:
        (number,) = database.execute("SELECT count(*) FROM step").fetchone()
    database.close()
    return number


def test_a_second_opener_is_refused(tmp_path: Path) -> None:
    with JOURNALS.open(tmp_path, RUN):
        assert JOURNALS.in_use(tmp_path)
        with pytest.raises(RunLockedError), JOURNALS.open(tmp_path, RUN):
            pass
    assert not JOURNALS.in_use(tmp_path)
    write(tmp_path, step("a"))


HOLDER = """
import asyncio, sys, time
from pathlib import Path
from tests.effects.test_journal import JOURNALS, RUN, step
async def go():
    with JOURNALS.open(Path(sys.argv[1]), RUN) as journal:
        journal.record(step("a"))
        await journal.flush()
        journal.record(step("lost"))
        print("ready", flush=True)
        time.sleep(60)
asyncio.run(go())
"""


def test_a_killed_process_leaves_what_it_committed_and_no_lock(tmp_path: Path) -> None:
    """`kill -9`: the committed reply is there, the uncommitted one is not half there, the lock is gone."""
    checkout = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, cwd=checkout
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        with pytest.raises(RunLockedError, match=f"got process {holder.pid}$"), JOURNALS.open(tmp_path, RUN):
            pass
        os.kill(holder.pid, signal.SIGKILL)
    with JOURNALS.open(tmp_path, RUN) as journal:
        assert [made.trial.id for made in journal.records()] == ["a"]


def test_another_runs_journal_is_refused(tmp_path: Path) -> None:
    write(tmp_path, step("a"))
    with pytest.raises(JournalError, match="another run"), JOURNALS.open(tmp_path, Digest("cd" * 32)):
        pass


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read as a header" * 20, b"x"])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    """Nothing of it is changed."""
    (tmp_path / JOURNAL).write_bytes(content)
    with pytest.raises(JournalError, match="not a journal"), JOURNALS.open(tmp_path, RUN):
        pass
    assert (tmp_path / JOURNAL).read_bytes() == content


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / JOURNAL)
    database.execute("CREATE TABLE step (x)")
    database.close()
    with pytest.raises(JournalError, match="not a journal of trunchbuild"), JOURNALS.open(tmp_path, RUN):
        pass


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_torn_file_is_refused(tmp_path: Path, keep: float) -> None:
    write(tmp_path, *(step(str(number), body=b"x" * 3000) for number in range(40)))
    whole = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(whole[: int(len(whole) * keep) // 4096 * 4096])
    with pytest.raises(JournalError, match="damaged"), JOURNALS.open(tmp_path, RUN):
        pass


def test_a_flipped_byte_is_found_wherever_it_matters(tmp_path: Path) -> None:
    """A byte of every 101 of the file: it is found, or all is as before. SQLite alone sees few."""
    steps = [step(f"q{number}", body=b'{"text":"%d"}' % number) for number in range(20)]
    write(tmp_path, *steps)
    whole = (tmp_path / JOURNAL).read_bytes()
    found = refused = 0
    for position in range(0, len(whole), 101):
        folder = tmp_path / str(position)
        folder.mkdir()
        data = bytearray(whole)
        data[position] ^= 0x41
        (folder / JOURNAL).write_bytes(data)
        try:
            with JOURNALS.open(folder, RUN) as journal:
                assert list(journal.records()) == steps, position
                assert (len(journal.recorded()), journal.spent().tokens) == (20, 180), position
        except JournalError as error:
            found += JOURNAL in error.faults[0].place
            refused += 1
    assert found == refused
    # Rows and their index fill more than half of these pages; the rest is free space.
    assert found > len(whole) / 101 / 4


def test_a_changed_value_is_named(tmp_path: Path) -> None:
    """A whole database, in which one digit of one reply is another one."""
    write(tmp_path, step("a"), step("b", body=b'{"a":"4"}'))
    database = sqlite3.connect(tmp_path / JOURNAL)
    database.execute("UPDATE step SET body = CAST('{\"a\":\"5\"}' AS BLOB) WHERE id = 'b'")
    database.commit()
    database.close()
    named = r"damaged: got the record of sums/b, repeat 0"
    with pytest.raises(JournalError, match=named) as caught, JOURNALS.open(tmp_path, RUN):
        pass
    assert "--fresh" in (caught.value.faults[0].hint or "")


def committed_and_killed(folder: Path) -> None:
    """A journal whose second commit is in the write-ahead log alone, as a killed process leaves it."""
    write(folder, step("a"))
    database = sqlite3.connect(folder / JOURNAL)
    with JOURNALS.open(folder, RUN) as journal:
        database.execute("PRAGMA wal_autocheckpoint=0")

        async def go() -> None:
            journal.record(step("b"))
            await journal.flush()

        asyncio.run(go())
        for name in (JOURNAL, f"{JOURNAL}-wal"):
            (folder / f"{name}.kept").write_bytes((folder / name).read_bytes())
    database.close()
    for name in (JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm"):
        (folder / name).unlink(missing_ok=True)
    for name in (JOURNAL, f"{JOURNAL}-wal"):
        (folder / f"{name}.kept").rename(folder / name)


def names(folder: Path) -> list[str]:
    with JOURNALS.open(folder, RUN) as journal:
        return [made.trial.id for made in journal.records()]


def test_a_log_that_was_left_behind_counts(tmp_path: Path) -> None:
    committed_and_killed(tmp_path)
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("log", ["missing", "empty", "foreign", "torn", "noise"])
def test_a_log_that_is_lost_or_another_files_loses_itself_alone(tmp_path: Path, log: str) -> None:
    """What is in the database stays, and what was in the log alone is asked again: never half of it."""
    committed_and_killed(tmp_path)
    wal = tmp_path / f"{JOURNAL}-wal"
    data = wal.read_bytes()
    if log == "missing":
        wal.unlink()
    elif log == "foreign":
        other = tmp_path / "other"
        other.mkdir()
        committed_and_killed(other)
        wal.write_bytes((other / wal.name).read_bytes()[:32] + data[32:])
    else:
        wal.write_bytes({"empty": b"", "torn": data[: len(data) // 2], "noise": b"\x5a" * len(data)}[log])
    assert names(tmp_path) == ["a"]
    write(tmp_path, step("b"))
    assert names(tmp_path) == ["a", "b"]


def test_a_database_that_another_program_holds_is_said_to_be_locked(tmp_path: Path) -> None:
    write(tmp_path, step("a"))
    holder = sqlite3.connect(tmp_path / JOURNAL, isolation_level=None)
    holder.execute("PRAGMA locking_mode=EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(JournalError, match="locked"), JOURNALS.open(tmp_path, RUN):
        pass
    holder.close()
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE step SET usage = '{'",
        "UPDATE step SET retried = '[1'",
        f"UPDATE step SET retried = '{'[' * 100_000}'",
        "UPDATE step SET eval = CAST(x'ff' AS TEXT)",
        "ALTER TABLE step ADD COLUMN more TEXT",
        "CREATE TABLE more (x)",
        "DROP TABLE run",
    ],
)
def test_a_journal_whose_rows_are_not_ours_is_refused(tmp_path: Path, change: str) -> None:
    """Damage that leaves the database whole, or a stranger's hand."""
    write(tmp_path, step("a", usage={"total_tokens": 9}))
    database = sqlite3.connect(tmp_path / JOURNAL)
    database.execute(change)
    database.commit()
    database.close()
    with pytest.raises(JournalError, match=JOURNAL), JOURNALS.open(tmp_path, RUN) as journal:
        assert [*journal.recorded(), *journal.records(), journal.spent()]


def test_a_folder_that_cannot_be_written_is_not_called_damage(tmp_path: Path) -> None:
    """The hint for a damaged journal would have the user throw a good one away."""
    write(tmp_path, step("a"))
    (tmp_path / f"{JOURNAL}-wal").mkdir()
    with pytest.raises(JournalError, match="cannot be used"), JOURNALS.open(tmp_path, RUN):
        pass


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """R81: it says which format it reads."""
    write(tmp_path, step("a"))
    database = sqlite3.connect(tmp_path / JOURNAL)
    database.execute("PRAGMA user_version=3")
    database.close()
    with pytest.raises(JournalError, match=r"expected format 2, got format 3"), JOURNALS.open(tmp_path, RUN):
        pass


def test_a_process_killed_at_its_very_beginning_leaves_no_obstacle(tmp_path: Path) -> None:
    """An empty file, or a database into which nothing was committed, is begun anew."""
    (tmp_path / JOURNAL).touch()
    write(tmp_path, step("a"))
    other = tmp_path / "other"
    other.mkdir()
    database = sqlite3.connect(other / JOURNAL)
    database.execute("PRAGMA journal_mode=WAL")
    database.close()
    write(other, step("a"))
    assert count(other) == 1


def test_dropped_replies_are_gone_from_the_disk(tmp_path: Path) -> None:
    write(tmp_path, step("a", body=b'{"secret":"swordfish"}', request=b'{"prompt":"shibboleth"}'))
    with JOURNALS.open(tmp_path, RUN) as journal:
        journal.drop_replies()
        assert journal.dropped() == {Trial("sums", "a", 0)}
        assert journal.recorded() == {Trial("sums", "a", 0): "answered"}
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"swordfish" not in left
    assert b"shibboleth" not in left


def test_a_full_disk_is_an_error_and_loses_nothing_committed(tmp_path: Path) -> None:
    """SQLite's own page limit plays the full disk."""

    async def go() -> None:
        with JOURNALS.open(tmp_path, RUN) as journal:
            journal.record(step("a"))
            await journal.flush()
            journal._database.execute("PRAGMA max_page_count=8")  # type: ignore[attr-defined]
            journal.record(step("big", body=b"x" * 200_000))
            await journal.flush()

    with pytest.raises(JournalError, match="full"):
        asyncio.run(go())
    assert count(tmp_path) == 1


def test_a_read_only_copy_can_be_read(tmp_path: Path) -> None:
    write(tmp_path, step("a"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [JOURNAL]
    reader = JOURNALS.read(tmp_path, RUN)
    assert reader is not None
    with reader as journal:
        assert len(list(journal.records())) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [JOURNAL]
    assert JOURNALS.read(tmp_path / "nowhere", RUN) is None


MOUNTS = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 27 0:40 / /mnt/share rw - nfs4 server:/export rw
31 27 0:41 / /mnt/my\040disk rw - fuse.sshfs me@host: rw
32 27 0:42 / /home rw - btrfs /dev/vdb rw
33 32 0:43 / /home rw - cifs //server/home rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/work/runs", "ext4", False),
        ("/mnt/share/runs", "nfs4", True),
        ("/mnt/share", "nfs4", True),
        ("/mnt/shared", "ext4", False),
        ("/mnt/my disk/x", "fuse.sshfs", True),
        ("/home/me", "cifs", True),
    ],
)
def test_network_file_systems_are_known(path: str, kind: str, network: bool) -> None:
    """The table as proc(5) describes it: the longest mount point wins, a later mount covers an earlier one."""
    assert file_system_of(path, MOUNTS) == kind
    assert is_network(kind) is network


@pytest.mark.parametrize(("kind", "network"), [("tmpfs", False), ("fuse.lxcfs", False), ("9p", True), ("smb3", True)])
def test_kinds(kind: str, network: bool) -> None:
    assert is_network(kind) is network
