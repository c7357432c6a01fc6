#!/usr/bin/env bash
# Check that the named system packages are here; install what is missing when run as root on Debian or Ubuntu, else say
# what to install. Nothing happens when nothing is missing.
set -eu

is_here() {
  case "$1" in
    # GCC's OpenMP runtime, which the embedded model's server links to.
    libgomp1) { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q 'libgomp\.so\.1' ;;
    openssh-client) command -v ssh-keygen >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
for package in "$@"; do
  is_here "$package" || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
  echo "installing system packages: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "error: missing on this machine: ${missing[*]}" >&2
  echo "hint: on Debian or Ubuntu: sudo apt-get install ${missing[*]}" >&2
  exit 1
fi
