"""Whether a commit's signature is right, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trunchbuild.core.commit_signature import Signature, SignedCommit


@dataclass(frozen=True, slots=True)
class Signers:
    """Whose keys count; what is None is as the user's own Git and GnuPG have it. A repository's config never counts."""

    allowed_signers: Path | None = None
    """A file as `man ssh-keygen`, ALLOWED SIGNERS, describes it."""
    gpg_home: Path | None = None
    """A GnuPG home folder, whose keys all count."""


ANYONE_KNOWN = Signers()
"""Nothing but what the user's own Git and GnuPG have."""


class Signatures(Protocol):
    """Checks signatures."""

    def check(self, signed: SignedCommit, signers: Signers) -> Signature:
        """Say what is found; a missing program is an answer too (`unchecked`).

        Raises:
            BadInputError: A file or folder of `signers` is not there.
        """
        ...
