"""What one talk with a server has taken so far: bytes that are no objects, and time."""

from __future__ import annotations

from time import monotonic

from dulwich.errors import GitProtocolError

from trunchbuild.effects.git._limits import GitLimits


class Meter:
    """Counts one talk after another; `begin` starts the next."""

    def __init__(self, limits: GitLimits) -> None:
        self.limits = limits
        self.begin()

    def begin(self) -> None:
        """A request is about to be sent."""
        self._end = monotonic() + self.limits.talk_seconds
        self._left = self.limits.refs_bytes
        self._what = "a list of refs"

    def got_object(self) -> None:
        """Bytes of a pack came; how many there may be is counted where they are kept."""
        self._left = self.limits.refs_bytes
        self._what = "messages without an object"

    def count(self, size: int) -> None:
        """Bytes came.

        Raises:
            GitProtocolError: Too many without an object.
        """
        self._left -= size
        if self._left < 0:
            raise GitProtocolError(f"{self._what} longer than {self.limits.refs_bytes:,} bytes")

    @property
    def seconds_left(self) -> float:
        """Until the talk must be over; 0 when it must be now."""
        return max(self._end - monotonic(), 0.0)

    def patience(self) -> float:
        """How long to wait for the next byte, in seconds."""
        return min(self.limits.idle_seconds, self.seconds_left)

    def impatient(self) -> GitProtocolError:
        """The error of a wait that was in vain."""
        if self.seconds_left == 0.0:
            return self.over()
        return GitProtocolError(f"not a byte for {self.limits.idle_seconds:,g} s")

    def over(self) -> GitProtocolError:
        """The error of an answer that does not end."""
        return GitProtocolError(f"the answer does not end within {self.limits.talk_seconds:,g} s")
