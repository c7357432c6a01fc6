"""Signed commits: made by `ssh-keygen` and `gpg`, and judged as `git verify-commit` judges them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.repos import DATE, environment, git, make_repo
from tests.support.signing import GpgHome, SshKey, raw_commit, signed_commit, with_header, write_commit
from trunchbuild.core.commit_signature import Signature
from trunchbuild.core.repo import RepoAddress
from trunchbuild.effects.git._dulwich import DulwichGit
from trunchbuild.effects.signatures._programs import ProgramSignatures, UserKeys
from trunchbuild.effects.signatures.api import Signers
from trunchbuild.errors import BadInputError
from trunchbuild.flows.signature import NotSignedError, SignatureOrder, SignatureUncheckedError, commit_signature


@dataclass(frozen=True, slots=True)
class Keys:
    """Made once for all tests of this file."""

    ann: SshKey
    bob: SshKey
    gpg: GpgHome
    carl: str
    gone: str
    """Expired a year before today, and valid when it signed."""


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keys]:
    folder = tmp_path_factory.mktemp("keys")
    home = Path(tempfile.mkdtemp(prefix="tb"))
    gpg = GpgHome(home)
    try:
        carl = gpg.make_key("carl")
        gone = gpg.make_key("gone", expire="30d", faked_time="20230101T000000")
        yield Keys(SshKey.make(folder / "ann"), SshKey.make(folder / "bob"), gpg, carl, gone)
    finally:
        gpg.close()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    make_repo(tmp_path / "repo", {"a": "1\n"})
    return tmp_path / "repo"


@pytest.fixture
def allowed(tmp_path: Path, keys: Keys) -> Path:
    file = tmp_path / "allowed"
    file.write_text(f"# those who may\nann@example.invalid,ann@other.invalid {keys.ann.public}\n")
    return file


def found(
    repo: Path, commit: str, *, user: UserKeys | None = None, search_path: str | None = None, **signers: Path | None
) -> Signature:
    order = SignatureOrder(Signers(**signers))  # type: ignore[arg-type]
    programs = ProgramSignatures(user or UserKeys(repo.parent / "nobody"), search_path=search_path)
    with DulwichGit().open(RepoAddress.parse(str(repo)), commit) as tree:
        return commit_signature(tree, order, programs)


def git_says_good(repo: Path, commit: str, allowed: Path | None = None, gnupg: Path | None = None) -> bool:
    settings = ["-c", f"gpg.ssh.allowedSignersFile={allowed}"] if allowed else []
    command = ["git", "-C", str(repo), *settings, "verify-commit", commit]
    variables = environment() | ({"GNUPGHOME": str(gnupg)} if gnupg else {})
    return subprocess.run(command, env=variables, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_commit_that_git_signed_with_ssh(tmp_path: Path, keys: Keys, allowed: Path, object_format: str) -> None:
    repo = tmp_path / "made"
    first = make_repo(repo, {"a": "1\n"}, object_format=object_format)
    settings = ["-c", "gpg.format=ssh", "-c", f"user.signingKey={keys.ann.file}"]
    commit = git(repo, *settings, "commit-tree", "-S", "-m", "signed", f"{first}^{{tree}}")
    assert git_says_good(repo, commit, allowed)
    expected = Signature("good", "ssh", keys.ann.fingerprint, "ann@example.invalid")
    assert found(repo, commit, allowed_signers=allowed) == expected
    assert str(expected) == f"good of ann@example.invalid by the ssh key {keys.ann.fingerprint}"
    assert found(repo, first, allowed_signers=allowed) == Signature("none")


@pytest.mark.parametrize(
    "change", [(b"tree ", b"tree  "), (b"Add files", b"Add Files"), (b"author Example", b"author Another")]
)
def test_a_changed_commit_is_bad(repo: Path, keys: Keys, allowed: Path, change: tuple[bytes, bytes]) -> None:
    good = signed_commit(repo, "main", keys.ann.sign)
    assert found(repo, good, allowed_signers=allowed).state == "good"
    if change[0] == b"tree ":
        other = make_repo(repo.parent / "other", {"a": "2\n"}, object_format="sha1")
        tree = git(repo.parent / "other", "rev-parse", f"{other}^{{tree}}")
        git(repo, "fetch", "--quiet", str(repo.parent / "other"), "main")
        change = (git(repo, "rev-parse", "main^{tree}").encode(), tree.encode())
    changed = signed_commit(repo, "main", keys.ann.sign, change=change)
    assert not git_says_good(repo, changed, allowed)
    assert found(repo, changed, allowed_signers=allowed).state == "bad"


def test_a_key_that_nobody_vouches_for(repo: Path, keys: Keys, allowed: Path) -> None:
    commit = signed_commit(repo, "main", keys.bob.sign)
    for signers in (allowed, None):
        signature = found(repo, commit, allowed_signers=signers)
        assert (signature.state, signature.key) == ("unknown-key", keys.bob.fingerprint)
    assert not git_says_good(repo, commit, allowed)
    allowed.write_text(f"bob@example.invalid {keys.bob.public}\n")
    assert found(repo, commit, allowed_signers=allowed).signer == "bob@example.invalid"


@pytest.mark.parametrize(
    ("option", "state"),
    [
        ('valid-before="20231114221321Z"', "good"),
        ('valid-before="20231114221319Z"', "unknown-key"),
        ('valid-after="20231114221321Z"', "unknown-key"),
        ('namespaces="git"', "good"),
        ('namespaces="file"', "unknown-key"),
    ],
)
def test_what_the_allowed_signers_allow(repo: Path, keys: Keys, tmp_path: Path, option: str, state: str) -> None:
    """The commit is of 2023-11-14 22:13:20 UTC (1,700,000,000 s); a key must have been valid then."""
    assert DATE == 1_700_000_000
    file = tmp_path / "options"
    # OpenSSH before 9.3 knows no Z; our child's zone is UTC.
    file.write_text(f"ann@example.invalid {option.replace('Z', '')} {keys.ann.public}\n")
    commit = signed_commit(repo, "main", keys.ann.sign)
    assert found(repo, commit, allowed_signers=file).state == state


@pytest.mark.parametrize("namespace", ["file", "git ", "GIT", "\x1b[31mgit"])
def test_a_signature_for_another_purpose_is_bad(repo: Path, keys: Keys, allowed: Path, namespace: str) -> None:
    commit = signed_commit(repo, "main", lambda payload: keys.ann.sign(payload, namespace))
    signature = found(repo, commit, allowed_signers=allowed)
    assert signature.state == "bad"
    assert str(signature).isprintable()
    assert not git_says_good(repo, commit, allowed)


def test_a_signed_tag_is_no_signed_commit(repo: Path, keys: Keys, allowed: Path) -> None:
    settings = ["-c", "gpg.format=ssh", "-c", f"user.signingKey={keys.ann.file}"]
    git(repo, *settings, "tag", "-s", "-m", "one", "v1", "main")
    assert found(repo, "v1", allowed_signers=allowed) == Signature("none")
    commit = signed_commit(repo, "main", keys.ann.sign)
    git(repo, "tag", "-a", "-m", "two", "v2", commit)
    assert found(repo, "v2", allowed_signers=allowed).state == "good"


def test_a_signature_in_the_message_or_of_the_parent_is_none(repo: Path, keys: Keys, allowed: Path) -> None:
    payload = raw_commit(repo, "main")
    signature = keys.ann.sign(payload)
    in_message = write_commit(repo, payload + b"gpgsig " + signature.replace(b"\n", b"\n "))
    merged = with_header(payload, b"mergetag", b"object 0\n\n" + with_header(payload, b"gpgsig", signature))
    for commit in (in_message, write_commit(repo, merged)):
        assert found(repo, commit, allowed_signers=allowed) == Signature("none")


def test_two_signatures_are_one_too_many(repo: Path, keys: Keys, allowed: Path) -> None:
    payload = raw_commit(repo, "main")
    once = with_header(payload, b"gpgsig", keys.ann.sign(payload))
    twice = write_commit(repo, with_header(once, b"gpgsig", keys.bob.sign(payload)))
    signature = found(repo, twice, allowed_signers=allowed)
    assert (signature.state, signature.detail) == ("bad", "the commit holds more than one signature")
    other = write_commit(repo, with_header(once, b"gpgsig-sha256", keys.bob.sign(payload)))
    assert found(repo, other, allowed_signers=allowed).state == "good"
    assert git_says_good(repo, other, allowed)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (b"-----BEGIN SIGNED MESSAGE-----\nMII\n-----END SIGNED MESSAGE-----\n", "unchecked"),
        (b"anything", "unchecked"),
        (b"-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n", "bad"),
        (b"-----BEGIN SSH SIGNATURE-----\n--help\n-----END SSH SIGNATURE-----\n", "bad"),
        (b"-----BEGIN PGP SIGNATURE-----\n\n!!!!\n-----END PGP SIGNATURE-----\n", "bad"),
        (b"-----BEGIN PGP SIGNATURE-----\n\nAAAA\n=AAAA\n-----END PGP SIGNATURE-----\n", "bad"),
        (b"-----BEGIN SSH SIGNATURE-----\n" + b"A" * 70_000, "bad"),
    ],
)
def test_nonsense_in_the_place_of_a_signature(repo: Path, allowed: Path, keys: Keys, text: bytes, state: str) -> None:
    commit = write_commit(repo, with_header(raw_commit(repo, "main"), b"gpgsig", text))
    signature = found(repo, commit, allowed_signers=allowed, gpg_home=keys.gpg.folder)
    assert signature.state == state
    assert not git_says_good(repo, commit, allowed)


@pytest.mark.parametrize("time", [b"x", b"99999999999999", b"253402300800"])
def test_a_commit_without_a_time(repo: Path, keys: Keys, allowed: Path, time: bytes) -> None:
    raw = raw_commit(repo, "main").replace(b"> %d +0000\n\n" % DATE, b"> " + time + b" +0000\n\n")
    commit = write_commit(repo, with_header(raw, b"gpgsig", keys.ann.sign(raw)))
    signature = found(repo, commit, allowed_signers=allowed)
    assert (signature.state, signature.detail) == ("bad", "the commit does not say when it was made")


def test_without_the_program_nothing_is_said(repo: Path, keys: Keys, allowed: Path, tmp_path: Path) -> None:
    commit = signed_commit(repo, "main", keys.ann.sign)
    for path in (str(tmp_path), ".", ""):
        signature = found(repo, commit, allowed_signers=allowed, search_path=path)
        assert signature == Signature("unchecked", "ssh", detail="the program `ssh-keygen` is not here")


def test_what_the_repository_says_about_signers_does_not_count(repo: Path, keys: Keys, tmp_path: Path) -> None:
    """Git itself would read all of it, and run the first two."""
    trap, own = tmp_path / "ran", tmp_path / "own"
    own.write_text(f"* {keys.bob.public}\n")
    for name in ("gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"):
        git(repo, "config", name, f"touch {trap}")
    git(repo, "config", "gpg.ssh.allowedSignersFile", str(own))
    commit = signed_commit(repo, "main", keys.bob.sign)
    assert found(repo, commit).state == "unknown-key"
    assert not trap.exists()
    assert found(repo, commit, allowed_signers=own).state == "good"


def test_the_users_own_git_config_counts(repo: Path, keys: Keys, tmp_path: Path, allowed: Path) -> None:
    commit = signed_commit(repo, "main", keys.ann.sign)
    config = tmp_path / "gitconfig"
    user = UserKeys(tmp_path, (tmp_path / "missing", config))
    config.write_text('[gpg "ssh"]\n\tallowedSignersFile = ~/allowed\n')
    assert found(repo, commit, user=user).state == "good"
    revoked = tmp_path / "revoked"
    revoked.write_text(f"{keys.ann.public}\n")
    config.write_text(config.read_text() + f"\trevocationFile = {revoked}\n")
    assert found(repo, commit, user=user).state == "revoked"
    assert found(repo, commit, user=user, allowed_signers=allowed).state == "revoked"
    revoked.write_text(f"{keys.bob.public}\n")
    assert found(repo, commit, user=user).state == "good"


def test_a_misspelt_file_of_signers_is_an_error(repo: Path, keys: Keys, tmp_path: Path) -> None:
    ssh = signed_commit(repo, "main", keys.ann.sign)
    pgp = signed_commit(repo, "main", lambda payload: keys.gpg.sign(payload, keys.carl))
    with pytest.raises(BadInputError, match="no such file"):
        found(repo, ssh, allowed_signers=tmp_path / "nowhere")
    with pytest.raises(BadInputError, match="no such folder"):
        found(repo, pgp, gpg_home=tmp_path / "nowhere")


def test_openpgp(repo: Path, keys: Keys, tmp_path: Path) -> None:
    home = keys.gpg.folder
    commit = signed_commit(repo, "main", lambda payload: keys.gpg.sign(payload, keys.carl))
    carl = "carl <carl@example.invalid>"
    assert found(repo, commit, gpg_home=home) == Signature("good", "openpgp", keys.carl, carl)
    assert git_says_good(repo, commit, gnupg=home)
    changed = signed_commit(
        repo, "main", lambda payload: keys.gpg.sign(payload, keys.carl), change=(b"Add files", b"Add Files")
    )
    assert found(repo, changed, gpg_home=home).state == "bad"
    assert not git_says_good(repo, changed, gnupg=home)
    (tmp_path / "empty").mkdir(mode=0o700)
    unknown = found(repo, commit, gpg_home=tmp_path / "empty")
    assert (unknown.state, unknown.key) == ("unknown-key", keys.carl)
    assert found(repo, commit).state == "unknown-key"


def test_in_the_users_own_keyring_somebody_must_vouch(repo: Path, keys: Keys, tmp_path: Path) -> None:
    """A keyring fills with strangers' keys by itself; without a word for the key its name is only a claim."""
    home = Path(tempfile.mkdtemp(prefix="tb"))
    other = GpgHome(home)
    try:
        other.gpg("--import", stdin=keys.gpg.gpg("--export", keys.carl))
        commit = signed_commit(repo, "main", lambda payload: keys.gpg.sign(payload, keys.carl))
        user = UserKeys(tmp_path, gpg_home=home)
        signature = found(repo, commit, user=user)
        assert (signature.state, signature.key) == ("unknown-key", keys.carl)
        assert "carl@example.invalid" in str(signature.detail)
        other.gpg("--import-ownertrust", stdin=f"{keys.carl}:6:\n".encode())
        other.gpg("--check-trustdb")
        assert found(repo, commit, user=user).state == "good"
    finally:
        other.close()
        shutil.rmtree(home, ignore_errors=True)


def test_expired_and_revoked_keys(repo: Path, keys: Keys) -> None:
    home = keys.gpg
    when = ("--faked-system-time", "20230110T000000")
    commit = signed_commit(repo, "main", lambda payload: home.sign(payload, keys.gone, *when))
    assert found(repo, commit, gpg_home=home.folder).state == "expired"
    revoked = home.make_key("dora")
    commit = signed_commit(repo, "main", lambda payload: home.sign(payload, revoked))
    assert found(repo, commit, gpg_home=home.folder).state == "good"
    certificate = (home.folder / "openpgp-revocs.d" / f"{revoked}.rev").read_bytes()
    home.gpg("--import", stdin=certificate.replace(b":-----BEGIN", b"-----BEGIN"))
    assert found(repo, commit, gpg_home=home.folder).state == "revoked"


def test_an_armour_that_holds_something_else(repo: Path, keys: Keys) -> None:
    """A signed message, and two signatures in one: a program would look at what is in there, and not at the commit."""
    home = keys.gpg

    def message(payload: bytes) -> bytes:
        signed = home.gpg("--armor", "--local-user", keys.carl, "--sign", stdin=payload)
        return signed.replace(b"PGP MESSAGE", b"PGP SIGNATURE")

    def two(payload: bytes) -> bytes:
        return home.gpg("--armor", "-u", keys.carl, "-u", home.make_key("erin"), "--detach-sign", stdin=payload)

    for sign in (message, two):
        signature = found(repo, signed_commit(repo, "main", sign), gpg_home=home.folder)
        assert (signature.state, signature.kind) == ("bad", "openpgp")
        assert "armour" in str(signature.detail)


@pytest.mark.parametrize("required", [False, True])
def test_a_good_signature_can_be_asked_for(repo: Path, keys: Keys, allowed: Path, required: bool) -> None:
    commits: dict[str, Callable[[], str]] = {
        "good": lambda: signed_commit(repo, "main", keys.ann.sign),
        "unknown-key": lambda: signed_commit(repo, "main", keys.bob.sign),
        "none": lambda: git(repo, "rev-parse", "main"),
        "bad": lambda: signed_commit(repo, "main", keys.ann.sign, change=(b"Add files", b"Add Files")),
        "unchecked": lambda: signed_commit(repo, "main", lambda _: b"-----BEGIN SIGNED MESSAGE-----\n"),
    }
    order = SignatureOrder(Signers(allowed), required)
    programs = ProgramSignatures(UserKeys(repo.parent))
    for state, make in commits.items():
        with DulwichGit().open(RepoAddress.parse(str(repo)), make()) as tree:
            if not required or state == "good":
                assert commit_signature(tree, order, programs).state == state
                continue
            expected = SignatureUncheckedError if state == "unchecked" else NotSignedError
            with pytest.raises(expected) as caught:
                commit_signature(tree, order, programs)
            assert int(caught.value.exit_code) == (4 if state == "unchecked" else 1)
