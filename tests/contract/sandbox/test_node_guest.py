"""Node itself as the guest, with all its modules and without its permission model: only the sandbox confines it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.sandbox.conftest import OneWay
from trunchbuild.core.confinement import Limits, SandboxRequest
from trunchbuild.effects.runtime._libraries import libraries_of
from trunchbuild.effects.runtime._node_layout import ENVIRONMENT, node_program

CODE = """
const fs = require("fs"), net = require("net"), dgram = require("dgram"), dns = require("dns"), os = require("os")
const cp = require("child_process"), v8 = require("v8"), inspector = require("inspector")
const [port, victim, folder] = JSON.parse(process.env.GIVEN)
const said = {}
const now = (name, action) => { try { action(); said[name] = "did" } catch (error) { said[name] = "refused" } }
const later = (name, start) => new Promise((end) => {
  const tell = (word) => { said[name] = word; end() }
  try { start(() => tell("did"), () => tell("refused")) } catch (error) { tell("refused") }
})
now("read passwd", () => fs.readFileSync("/etc/passwd"))
now("read own memory", () => fs.readFileSync("/proc/self/maps"))
now("list temporary files", () => fs.readdirSync(folder))
now("write a file", () => fs.writeFileSync(folder + "/new", "x"))
now("remove a file", () => fs.unlinkSync(folder + "/file"))
now("change a mode", () => fs.chmodSync(folder + "/file", 0o777))
now("follow a link", () => { if (fs.readlinkSync(folder + "/link") !== undefined) return })
now("watch a folder", () => fs.watch(folder))
now("heap snapshot", () => v8.writeHeapSnapshot(folder + "/heap"))
now("list devices", () => fs.readdirSync("/dev"))
now("start a program", () => { if (cp.spawnSync("/bin/sh", ["-c", "exit 0"]).status !== 0) throw 1 })
now("start itself", () => { if (cp.spawnSync(process.execPath, ["-v"]).status !== 0) throw 1 })
now("signal its starter", () => process.kill(victim, 0))
now("kill its starter", () => process.kill(victim, 9))
now("become root", () => { process.setuid(0); if (process.getuid() !== 0) throw 1; fs.readFileSync("/etc/shadow") })
now("name its interfaces", () => { if (os.networkInterfaces().eth0 === undefined) throw 1 })
now("see the environment", () => {
  const given = ["TZ", "LC_ALL", "OPENSSL_CONF", "GIVEN", "PWD"]
  if (Object.keys(process.env).every((name) => given.includes(name))) throw 1
})
now("debugger", () => { inspector.open(0, "127.0.0.1"); if (inspector.url() === undefined) throw 1 })
const all = [
  later("connect", (did, no) => net.connect(port, "127.0.0.1", did).on("error", no)),
  later("connect to a file", (did, no) => net.connect(folder + "/server", did).on("error", no)),
  later("connect to a name", (did, no) => net.connect("\\0trunchbuild-node", did).on("error", no)),
  later("listen", (did, no) => net.createServer().on("error", no).listen(0, did)),
  later("send a packet", (did, no) => dgram.createSocket("udp4").on("error", no).send("x", port, "127.0.0.1",
    (error) => error ? no() : did())),
  later("look up a name", (did, no) => dns.lookup("localhost", (error) => error ? no() : did())),
  later("ask a server of names", (did, no) => {
    const resolver = new dns.Resolver({ timeout: 100, tries: 1 })
    resolver.setServers(["127.0.0.1:" + port])
    resolver.resolve4("example.org", (error) => error ? no() : did())
  }),
]
Promise.all(all).then(() => { fs.writeSync(1, JSON.stringify(said)); process.exit(0) })
"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A folder of the host with a file and a link, servers, a process; and the command that tries to reach them."""

    folder: Path
    victim: subprocess.Popen[bytes]
    words: tuple[str, ...]
    environment: Mapping[str, str]


@pytest.fixture
def around() -> Iterator[Surroundings]:
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as by_file,
        socket.socket(socket.AF_UNIX) as by_name,
        subprocess.Popen(["sleep", "60"]) as victim,
    ):
        by_file.bind(f"{folder}/server")
        by_file.listen()
        by_name.bind(b"\0trunchbuild-node")
        by_name.listen()
        (Path(folder) / "file").write_text("before", encoding="utf-8")
        (Path(folder) / "link").symlink_to("file")
        given = json.dumps([server.getsockname()[1], victim.pid, folder])
        yield Surroundings(Path(folder), victim, ("--no-warnings", "-e", CODE), {**ENVIRONMENT, "GIVEN": given})
        victim.kill()


def test_node_with_all_its_modules_gets_nowhere(sandbox: OneWay, around: Surroundings) -> None:
    program = node_program()
    files = {program: "/node/bin/node", **libraries_of([program])}
    limits = Limits(wall_seconds=60.0, cpu_seconds=20)
    request = SandboxRequest((str(program), *around.words), files, around.environment, limits=limits)
    output: list[bytes] = []
    with tempfile.TemporaryFile() as nothing:
        outcome = sandbox.run(request, nothing, output.append)
    assert (outcome.ending, outcome.code) == ("exited", 0), outcome
    said = json.loads(b"".join(output))
    assert said == dict.fromkeys(said, "refused")
    assert len(said) == 25
    assert around.victim.poll() is None
    assert (around.folder / "file").read_text(encoding="utf-8") == "before"
    assert {path.name for path in around.folder.iterdir()} == {"file", "link", "server"}


def test_the_same_program_gets_far_without_a_sandbox(around: Surroundings) -> None:
    """The twin: each of these attempts is one that works."""
    command = [node_program(), *around.words]
    free = subprocess.run(command, env=around.environment, capture_output=True, check=True, timeout=60)
    did = {name for name, word in json.loads(free.stdout).items() if word == "did"}
    assert around.victim.wait(timeout=10) == -signal.SIGKILL
    assert did >= {
        *("read passwd", "read own memory", "list temporary files", "write a file", "remove a file", "follow a link"),
        *("watch a folder", "heap snapshot", "list devices", "start a program", "start itself", "signal its starter"),
        *("kill its starter", "debugger", "connect", "connect to a file", "connect to a name", "listen"),
        *("send a packet",),
    }
