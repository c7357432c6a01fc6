"""What an administrator can do where the kernel or its policy refuses a sandbox."""

from __future__ import annotations

from pathlib import Path

_APPARMOR = (
    "AppArmor restricts user namespaces here (Ubuntu 23.10 and later). Install the system's package `bubblewrap` and a"
    " profile that allows it (`apparmor-profiles`, then"
    " `ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/` and"
    " `apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict`), or"
    " `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
)
_CLONE = "user namespaces are switched off: `sysctl kernel.unprivileged_userns_clone=1`"
_MAXIMUM = (
    "no further user namespace is allowed: `sysctl user.max_user_namespaces=15000`, or run outside of the sandbox that"
    " this one would stand in"
)
_CONTAINER = (
    "a container's system call filter refuses namespaces: start it with `--security-opt seccomp=unconfined`"
    " (Docker, Podman; with AppArmor also `--security-opt apparmor=unconfined`), or run on the host"
)
_OLD = "this bubblewrap is too old: 0.8 or later is needed"
_LANDLOCK = (
    "Landlock needs Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK and `landlock` among the boot parameter `lsm=`"
    " (see /sys/kernel/security/lsm); a container's system call filter may refuse it too: start the container with"
    " `--security-opt seccomp=unconfined`"
)
_LANDLOCK_AT_BOOT = (
    "this kernel has Landlock, but it was switched off at boot: add `landlock` to the boot parameter `lsm=`,"
    " for example `lsm=landlock,lockdown,yama,apparmor` (what is on: /sys/kernel/security/lsm)"
)
_FILTER = "the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)"
_READ = "a file that the runtime needs is not readable for this user; install Python and trunchbuild where it is"

_BY_WORDS = {
    ("Unknown option",): _OLD,
    ("SECCOMP",): _FILTER,
    ("Landlock: Operation not supported",): _LANDLOCK_AT_BOOT,
    ("Landlock:", "landlock_"): _LANDLOCK,
    ("Can't find source path", "execvp"): _READ,
    # bubblewrap.c: "nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)".
    ("ENOSPC",): _MAXIMUM,
}
_BY_SETTING = {
    ("kernel/apparmor_restrict_unprivileged_userns", "1"): _APPARMOR,
    ("kernel/unprivileged_userns_clone", "0"): _CLONE,
    ("user/max_user_namespaces", "0"): _MAXIMUM,
}


SETTINGS = Path("/proc/sys")


def cure_of(words: str, settings: Path = SETTINGS) -> str | None:
    """The cure that fits the words of a failed set-up and the state of this kernel, as its folder of settings says."""
    for signs, cure in _BY_WORDS.items():
        if any(sign in words for sign in signs):
            return cure
    for (setting, value), cure in _BY_SETTING.items():
        if _setting(settings / setting) == value:
            return cure
    if any(sign in words for sign in ("namespace", "uid map", "RTM_NEWADDR", "Operation not permitted", "mount")):
        return _CONTAINER
    return None


def _setting(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""
