"""The process that holds the model; a script of its own, started by `_xllamacpp.py` and imported by nobody.

It reads one JSON line from standard input, starts llama.cpp's HTTP server and writes one JSON line to standard output:
`{"url", "server"}`, or `{"error", "missing"}`. Then it serves until standard input ends, which happens however the
parent dies. It keeps the parent's memory, signals and environment apart from the model's.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys


def end_with_parent() -> None:
    """Have the kernel end this process when standard input does, even while native code keeps Python from running.

    The signal SIGIO comes with the next event on the pipe; nothing is written to it any more, so that is its end. Its
    default action is to terminate.
    """
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def start(
    *, gguf: str, name: str, api_key: str, slots: int, context: int, cache_prompt: bool, threads: int
) -> tuple[object, str]:
    """Start the server; return it, since it ends when nothing refers to it, and its address."""
    import xllamacpp  # noqa: PLC0415 - the search path and the environment come first

    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [api_key]
    params.n_parallel = slots
    params.n_ctx = context * slots
    params.cache_prompt = cache_prompt
    params.cache_ram_mib = 256 if cache_prompt else 0
    params.cache_idle_slots = cache_prompt
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.fit_params = False
    params.ui = False
    params.offline = True
    params.verbosity = 2
    server = xllamacpp.Server(params)
    return server, server.listening_address


def main() -> None:
    """Start, report, serve until the parent is gone."""
    request = json.loads(sys.stdin.buffer.readline())
    end_with_parent()
    # Whatever native code prints goes to standard error; the answer alone goes to the parent.
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.path += request["search_path"]
    server: object = None
    answer: dict[str, str | bool]
    try:
        server, url = start(**request["server"])
        answer = {"url": url}
    except ImportError as error:
        answer = {"error": str(error), "missing": True}
    except Exception as error:  # Whatever it is, the parent reports it.
        answer = {"error": str(error) or type(error).__name__, "missing": False}
    os.write(answers, json.dumps(answer).encode() + b"\n")
    if server is not None:
        sys.stdin.buffer.read()
    # The server's threads have nothing to save; an orderly end would only wait for them.
    os._exit(0)


if __name__ == "__main__":
    main()
