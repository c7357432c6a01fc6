"""Errors about an author's files, gathered so that all of them can be told at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trunchbuild.errors import BadInputError, Fault


class Refusals:
    """Errors about input so far; any other error is not held back."""

    def __init__(self) -> None:
        self._errors: list[BadInputError] = []

    @contextmanager
    def gather(self) -> Iterator[None]:
        """Keep an error about input for later."""
        try:
            yield
        except BadInputError as error:
            self._errors.append(error)

    def tell(self, what: str) -> None:
        """Raise what was gathered; `what` names the things that the faults are in, for the headline.

        Raises:
            BadInputError: The one error, or one with the faults of all.
        """
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            faults: list[Fault] = [fault for error in self._errors for fault in error.faults]
            raise BadInputError(f"{len(faults):,} faults in {what}", faults=faults)
