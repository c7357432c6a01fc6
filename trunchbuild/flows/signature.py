"""What the signature of a pinned commit is worth here."""

from __future__ import annotations

from dataclasses import dataclass

from trunchbuild.core.commit_signature import Signature, signed_commit
from trunchbuild.effects.git.api import CommitTree
from trunchbuild.effects.signatures.api import ANYONE_KNOWN, Signatures, Signers
from trunchbuild.errors import ExitCode, MachineError, TrunchbuildError


class NotSignedError(TrunchbuildError):
    """A good signature was asked for, and the commit has none."""

    slug, exit_code = "commit-not-signed", ExitCode.NO


class SignatureUncheckedError(MachineError):
    """A good signature was asked for, and this machine cannot say whether it is one."""

    slug = "signature-unchecked"


@dataclass(frozen=True, slots=True)
class SignatureOrder:
    """Whose keys count, and whether a good signature is asked for."""

    signers: Signers = ANYONE_KNOWN
    required: bool = False


ONLY_TOLD = SignatureOrder()
"""Nothing is asked for."""


def commit_signature(tree: CommitTree, order: SignatureOrder, signatures: Signatures) -> Signature:
    """Say what the commit's own signature is; a tag's is not looked at.

    Raises:
        NotSignedError: A good one was asked for, and there is none.
        SignatureUncheckedError: A good one was asked for, and it cannot be checked here.
        BadInputError: A file of `order.signers` is not there.
    """
    commit = signed_commit(tree.commit_object(), tree.pin.object_format)
    found = commit if isinstance(commit, Signature) else signatures.check(commit, order.signers)
    if not order.required or found.state == "good":
        return found
    error = SignatureUncheckedError if found.state == "unchecked" else NotSignedError
    raise error(
        "the commit has no good signature",
        place=f"commit {tree.pin.commit}",
        expected="a good signature",
        got=str(found),
        hint="--allowed-signers FILE and --gpg-home DIR say whose keys count; without --require-signed it is only told",
    )
