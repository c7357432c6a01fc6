"""The only reader of the environment and of the user's configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user's surroundings say."""

    home: Path
    """Where the store and the caches live: `$TRUNCHBUILD_HOME`, else the platform's data folder."""
    openai_base_url: str | None
    git_ssh_command: str | None = None
    """`$GIT_SSH_COMMAND`, what Git runs in place of `ssh`."""
    user_home: Path = Path("/")
    """Where `~/` in the user's Git config begins."""
    git_config: tuple[Path, ...] = ()
    """The user's own config files of Git, the later one wins (`man git-config`, FILES); never a repository's."""
    gpg_home: Path | None = None
    """`$GNUPGHOME`, else `~/.gnupg`."""

    @classmethod
    def from_environment(cls) -> Settings:
        """Read the environment once."""
        home = os.environ.get("TRUNCHBUILD_HOME")
        user_home = Path(os.environ.get("HOME") or "/")
        gpg_home = os.environ.get("GNUPGHOME")
        return cls(
            home=Path(home) if home else Path(platformdirs.user_data_dir("trunchbuild")),
            openai_base_url=os.environ.get("OPENAI_BASE_URL"),
            git_ssh_command=os.environ.get("GIT_SSH_COMMAND") or None,
            user_home=user_home,
            git_config=_git_config(user_home),
            gpg_home=Path(gpg_home).absolute() if gpg_home else user_home / ".gnupg",
        )


def _git_config(user_home: Path) -> tuple[Path, ...]:
    if stated := os.environ.get("GIT_CONFIG_GLOBAL"):
        return (Path(stated),)
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else user_home / ".config") / "git/config", user_home / ".gitconfig"


def provider_files() -> list[Path]:
    """Where `providers.toml` may stand, the nearer first: the current folder, the user's configuration."""
    return [Path("providers.toml"), Path(platformdirs.user_config_dir("trunchbuild")) / "providers.toml"]


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`); loopback has none."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - only for calls to an endpoint

    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127."):
        return None
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - only behind a proxy

    return None if proxy_bypass(host) else getproxies().get(parts.scheme)


def secret(name: str) -> str | None:
    """The value of a secret's variable; read when it is needed, kept nowhere."""
    return os.environ.get(name) or None


_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "AUTH")


def redacted(text: str) -> str:
    """`text` without the values of variables that look like secrets by their names.

    The last net for text that nobody foresaw (an exception's message); values under 8 characters are left.
    """
    for name, value in os.environ.items():
        if len(value) >= 8 and any(part in name.upper() for part in _SECRET_NAMES):
            text = text.replace(value, f"<value of {name}>")
    return text
