"""Paths for a guest that sees the host's own tree: there is no other place at which a file could stand."""

from __future__ import annotations

from trunchbuild.core.confinement import SandboxRequest


def outside(word: str, request: SandboxRequest) -> str:
    """The word with a path of the sandbox replaced by the host's; `--option=PATH` too.

    A path may name a given file or folder, something below it, or a folder above that exists on the host as well.
    """
    option, equals, value = word.rpartition("=")
    for host, inside in request.read_only.items():
        if value == inside or value.startswith(f"{inside}/"):
            return f"{option}{equals}{host}{value[len(inside) :]}"
        below = inside.removeprefix(value)
        if below != inside and below.startswith("/") and value.startswith("/") and str(host).endswith(below):
            return f"{option}{equals}{str(host).removesuffix(below)}"
    return word


def outside_command(request: SandboxRequest) -> tuple[list[str], dict[str, str]]:
    """Command and environment of a request, in the host's paths."""
    argv = [request.argv[0], *(outside(word, request) for word in request.argv[1:])]
    return argv, {name: outside(value, request) for name, value in request.environment.items()}
