"""Stands in for `ssh`: notes its arguments in the file that the first one names, and runs the command here.

The second argument says which protocol the server understands: `0` for one that ignores `GIT_PROTOCOL`, as `sshd` does
unless it is told to accept it. Over HTTP a server of version 0 gives any reachable commit; over ssh it gives tips only.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main() -> None:
    log, protocol, *arguments = sys.argv[1:]
    with Path(log).open("a") as file:
        file.write(json.dumps(arguments) + "\n")
    for option in arguments:
        if protocol == "2" and option.startswith("SetEnv GIT_PROTOCOL="):
            os.environ["GIT_PROTOCOL"] = option.removeprefix("SetEnv GIT_PROTOCOL=")
    os.execvp("sh", ["sh", "-c", arguments[-1]])


if __name__ == "__main__":
    main()
