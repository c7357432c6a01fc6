"""The only chooser of back ends. Each is made when first asked for; imports stay where they are needed."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from trunchbuild.cli.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType


class App:
    """What commands use. A context manager: whatever it started ends with it.

    Back ends are cached properties: `git`, `store`, `sandbox`, `runtime`, `clock` ...
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._stack = ExitStack()

    @classmethod
    def from_environment(cls) -> App:
        """Wire by what the user's surroundings say."""
        return cls(Settings.from_environment())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
