#!/usr/bin/env bash
# Print the first Python found that is new enough; $PYTHON goes first.
set -eu
for candidate in ${PYTHON:-} python3 python3.11 python3.12 python3.13 python3.14; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
      echo "$candidate"
      exit 0
    fi
    without_venv="$candidate"
  fi
done
if [ -n "${without_venv:-}" ]; then
  echo "error: $without_venv cannot make virtual environments; on Debian: apt-get install python3-venv" >&2
else
  echo "error: Python 3.11 or newer is needed; say which with PYTHON=/path/to/python3.11 make ..." >&2
fi
exit 1
