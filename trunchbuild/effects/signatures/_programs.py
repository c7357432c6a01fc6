"""Signatures by the programs that made them: `ssh-keygen -Y verify` and `gpg --verify`.

What a stranger wrote reaches them as the content of a file and as standard input, never as an argument. They get an
environment of ours, no terminal, no network (`--disable-dirmngr`), a time limit, and of the user's configuration only
whose keys count.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trunchbuild.core.commit_signature import Signature, SignedCommit
from trunchbuild.effects.signatures._openpgp import check_openpgp
from trunchbuild.effects.signatures._runner import SECONDS, Runner
from trunchbuild.effects.signatures._ssh import check_ssh
from trunchbuild.effects.signatures.api import Signers
from trunchbuild.errors import BadInputError, MachineError


@dataclass(frozen=True, slots=True)
class UserKeys:
    """Where the user's own Git and GnuPG keep what counts when no option says otherwise."""

    home: Path
    git_config: tuple[Path, ...] = ()
    """The user's own config files of Git; the later one wins."""
    gpg_home: Path | None = None


class ProgramSignatures:
    """The `Signatures` door."""

    def __init__(self, user: UserKeys, *, search_path: str | None = None) -> None:
        """`search_path` replaces PATH in the search for the programs."""
        self._user = user
        self._search_path = search_path

    def check(self, signed: SignedCommit, signers: Signers) -> Signature:
        """See `Signatures.check`."""
        name = "ssh-keygen" if signed.kind == "ssh" else "gpg"
        program = self._program(name)
        if program is None:
            return Signature("unchecked", signed.kind, detail=f"the program `{name}` is not here")
        try:
            with _scratch() as folder:
                run = Runner(program, folder)
                if signed.kind == "ssh":
                    allowed, revoked = self._ssh_files(signers)
                    return check_ssh(signed, run, allowed=allowed, revoked=revoked)
                home = _there(signers.gpg_home, folder=True) or self._user.gpg_home
                return check_openpgp(signed, run, home=home, all_count=signers.gpg_home is not None)
        except subprocess.TimeoutExpired:
            return Signature("unchecked", signed.kind, detail=f"`{name}` did not end within {SECONDS:.0f} s")
        except OSError as error:
            raise MachineError(f"cannot run `{name}` ({error.strerror})", place=program) from error

    def _program(self, name: str) -> str | None:
        found = shutil.which(name, path=self._search_path)
        # A relative entry of PATH could lead into the very repository.
        return found if found is not None and Path(found).is_absolute() else None

    def _ssh_files(self, signers: Signers) -> tuple[Path | None, Path | None]:
        """Allowed signers and revoked keys: as asked, else as the user's own Git config says."""
        found: dict[str, Path] = {}
        for name in ("allowedsignersfile", "revocationfile"):
            if (path := self._configured(name)) is not None:
                found[name] = path
        allowed = _there(signers.allowed_signers) or found.get("allowedsignersfile")
        return allowed, found.get("revocationfile")

    def _configured(self, name: str) -> Path | None:
        """A path in the section `gpg "ssh"` of the user's config (`man git-config`, gpg.ssh.*)."""
        from dulwich.config import ConfigFile  # noqa: PLC0415 - only where a signature is checked

        value: bytes | None = None
        for file in self._user.git_config:
            if not file.is_file():
                continue
            try:
                value = ConfigFile.from_path(str(file)).get((b"gpg", b"ssh"), name.encode())
            except KeyError:
                continue
            except ValueError as error:
                raise BadInputError(f"Git's config cannot be read ({error})", place=str(file)) from error
        if value is None:
            return None
        text = value.decode("utf-8", "surrogateescape")
        path = self._user.home / text[2:] if text.startswith("~/") else Path(text)
        return path if path.is_absolute() else None


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="trunchbuild-signature-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _there(path: Path | None, *, folder: bool = False) -> Path | None:
    """An absolute path of what a user named; a misspelt one must not make every key unknown."""
    if path is None:
        return None
    if not (path.is_dir() if folder else path.is_file()):
        raise BadInputError("no such folder" if folder else "no such file", place=str(path))
    return path.absolute()
