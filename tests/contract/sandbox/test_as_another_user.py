"""The whole suite of this folder once more, as a user without rights, where the tests themselves run as root."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.acceptance.surroundings import another_user

HERE = Path(__file__).parent


def test_the_suite_holds_for_a_user_without_rights() -> None:
    """Every test of every way passes for `nobody` as well; none is skipped that root does not skip."""
    with another_user({}) as surroundings:
        command = [
            *(*surroundings.interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(HERE)),
            *("-c", "/dev/null", "--import-mode=importlib", f"--ignore={__file__}", "-k", "not none", str(HERE)),
        ]
        environment = {**surroundings.environment, "HOME": str(surroundings.folder), "TMPDIR": str(surroundings.folder)}
        done = subprocess.run(
            command, cwd=HERE.parent.parent.parent, env=environment, capture_output=True, text=True, check=False
        )
    closing = re.search(r"^(\d+) passed, \d+ deselected in ", done.stdout, re.MULTILINE)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert closing is not None, done.stdout[-2000:]
    assert int(closing[1]) > 100
