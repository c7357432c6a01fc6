"""Runs one untrusted program with no network, no environment and only the files it is given.

The types live in `trunchbuild.core.confinement`, where the runtime finds them too.
"""

from trunchbuild.core.confinement import (
    Ending,
    GuestEndedError,
    Limits,
    Sandbox,
    SandboxOutcome,
    SandboxProcess,
    SandboxRequest,
    SandboxUnavailableError,
)

__all__ = [
    "Ending",
    "GuestEndedError",
    "Limits",
    "Sandbox",
    "SandboxOutcome",
    "SandboxProcess",
    "SandboxRequest",
    "SandboxUnavailableError",
]
