"""The import rules of `docs/architecture.md`, read from the syntax trees; each rule is seen to catch its breach."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.architecture import Package

CHECKOUT = Path(__file__).resolve().parents[1]

# The smallest house that keeps every rule.
HOUSE = {
    "__init__.py": "__version__ = '1'\n",
    "__main__.py": "from trunchbuild.cli.main import run\n",
    "errors.py": "from dataclasses import dataclass\n",
    "core/__init__.py": "",
    "core/ids.py": "import re\nfrom pathlib import PurePosixPath\nfrom trunchbuild.errors import X\n",
    "core/rules.py": "from trunchbuild.core.ids import Digest\n",
    "effects/__init__.py": "",
    "effects/git/__init__.py": "",
    "effects/git/api.py": "from trunchbuild.core.ids import Digest\n",
    "effects/git/_dulwich.py": "import os\nfrom trunchbuild.effects.git.api import Git\n",
    "effects/store/__init__.py": "",
    "effects/store/api.py": "from trunchbuild.core.ids import Digest\n",
    "effects/store/_disk.py": "from trunchbuild.effects.store.api import Store\n",
    "flows/__init__.py": "",
    "flows/compile.py": "import trunchbuild\nfrom trunchbuild.effects.git.api import Git\n",
    "flows/verify.py": "from trunchbuild.flows.compile import compile_release\n",
    "guest/_library.py": "import re\n",
    "guest/run.py": "import sys, json, os, _library\nsys.exit(open(0).read() and os.environ)\n",
    "cli/__init__.py": "",
    "cli/settings.py": "import os\nimport platformdirs\nhome = os.environ.get('HOME')\n",
    "cli/wiring.py": "def git():\n    from trunchbuild.effects.git._dulwich import Dulwich\n    return Dulwich()\n",
    "cli/main.py": "import sys, importlib\ndef run():\n    importlib.import_module('x')\n    sys.exit(0)\n",
}

BREACHES: list[tuple[str, str, str, str]] = [
    # file, what is added to it, module and line of the breach, its words
    ("errors.py", "from trunchbuild.core.ids import Digest", "errors:2", "errors may not import core"),
    ("core/rules.py", "from trunchbuild.effects.git.api import Git", "core.rules:2", "core may not import effects"),
    ("core/rules.py", "import trunchbuild.flows.compile", "core.rules:2", "core may not import flows"),
    (
        "effects/git/api.py",
        "from trunchbuild.flows import compile",
        "effects.git.api:2",
        "effects may not import flows",
    ),
    ("flows/verify.py", "from trunchbuild.cli.settings import home", "flows.verify:2", "flows may not import cli"),
    (
        "flows/verify.py",
        "def f():\n    from trunchbuild.cli import wiring",
        "flows.verify:3",
        "flows may not import cli",
    ),
    (
        "flows/verify.py",
        "if TYPE_CHECKING:\n    from trunchbuild.cli.wiring import App",
        "flows.verify:3",
        "flows may not import cli",
    ),
    ("flows/compile.py", "from trunchbuild.flows.verify import verify", "flows.compile:3", "never the reverse"),
    ("__init__.py", "from trunchbuild.core import ids", "trunchbuild:2", "the root imports nothing"),
    ("extra.py", "x = 1", "extra:1", "belongs to no layer"),
    (
        "flows/verify.py",
        "from trunchbuild.effects.git._dulwich import DulwichGit",
        "flows.verify:2",
        "cli.wiring alone sees back ends",
    ),
    ("flows/verify.py", "from trunchbuild.effects import git", "flows.verify:2", "only an effect's api"),
    ("flows/verify.py", "import trunchbuild.effects.store", "flows.verify:2", "only an effect's api"),
    (
        "cli/main.py",
        "from trunchbuild.effects.store._disk import Disk",
        "cli.main:5",
        "cli.wiring alone sees back ends",
    ),
    (
        "effects/git/_dulwich.py",
        "from trunchbuild.effects.store.api import Store",
        "effects.git._dulwich:3",
        "never import one another",
    ),
    (
        "effects/git/_dulwich.py",
        "def f():\n    import trunchbuild.effects.store._disk",
        "effects.git._dulwich:4",
        "never import one another",
    ),
    (
        "guest/run.py",
        "from trunchbuild.core.ids import Digest",
        "guest.run:3",
        "the guest may not import trunchbuild.core.ids",
    ),
    ("guest/_library.py", "import _other", "guest._library:2", "the guest may not import _other"),
    ("guest/run.py", "import rfc8785", "guest.run:3", "the guest may not import rfc8785"),
    ("flows/verify.py", "import trunchbuild.guest.run", "flows.verify:2", "nobody imports the guest"),
    ("core/rules.py", "from . import ids", "core.rules:2", "relative import"),
    ("core/rules.py", "from ..errors import X", "core.rules:2", "relative import"),
    ("core/rules.py", "from trunchbuild.core.ids import *", "core.rules:2", "star import"),
    ("flows/verify.py", "from tests.support import x", "flows.verify:2", "tests are not ours"),
    ("flows/verify.py", "importlib.import_module('x')", "flows.verify:2", "hides an import"),
    ("core/rules.py", "__import__('os')", "core.rules:2", "hides an import"),
    ("core/ids.py", "from trunchbuild.core.rules import x", "core.ids:1", "circle of imports"),
    ("core/ids.py", "def f():\n    from trunchbuild.core.rules import x", "core.ids:1", "circle of imports"),
    ("core/ids.py", "if TYPE_CHECKING:\n    import trunchbuild.core.rules", "core.ids:1", "circle of imports"),
    (
        "effects/store/api.py",
        "from trunchbuild.effects.store._disk import x",
        "effects.store._disk:1",
        "circle of imports",
    ),
    *[
        ("core/rules.py", f"import {name}", "core.rules:2", f"core may not import {name}")
        for name in (
            "os",
            "time",
            "random",
            "secrets",
            "socket",
            "subprocess",
            "sys",
            "tempfile",
            "uuid",
            "httpx",
            "dulwich",
        )
    ],
    ("errors.py", "import os", "errors:2", "core may not import os"),
    ("core/rules.py", "def f():\n    import os.path", "core.rules:3", "core may not import os.path"),
    ("core/rules.py", "x = Path('y')", "core.rules:2", "core may not call Path"),
    ("core/rules.py", "x = y.read_text()", "core.rules:2", "core may not use read_text"),
    ("core/rules.py", "import pathlib", "core.rules:2", "core may not import all of pathlib"),
    ("core/rules.py", "from io import open", "core.rules:2", "core may not import open of io"),
    ("core/rules.py", "x = open('y')", "core.rules:2", "core may not call open"),
    ("core/rules.py", "print(1)", "core.rules:2", "core may not call print"),
    ("core/rules.py", "x = hash('a')", "core.rules:2", "core may not call hash"),
    ("core/rules.py", "x = eval('1')", "core.rules:2", "core may not call eval"),
    ("core/rules.py", "x = datetime.now()", "core.rules:2", "core may not use now"),
    ("core/rules.py", "x = date.today()", "core.rules:2", "core may not use today"),
    (
        "effects/git/_dulwich.py",
        "x = os.environ['HOME']",
        "effects.git._dulwich:3",
        "only cli.settings reads the environment",
    ),
    (
        "effects/git/_dulwich.py",
        "from os import getenv",
        "effects.git._dulwich:3",
        "only cli.settings reads the environment",
    ),
    ("flows/verify.py", "import platformdirs", "flows.verify:2", "only cli.settings reads the environment"),
    ("flows/verify.py", "x = Path.home()", "flows.verify:2", "only cli.settings reads the environment"),
    ("flows/verify.py", "x = Path('~').expanduser()", "flows.verify:2", "only cli.settings reads the environment"),
    ("cli/wiring.py", "x = option('--x', envvar='X')", "cli.wiring:4", "only cli.settings reads the environment"),
    ("flows/verify.py", "sys.exit(1)", "flows.verify:2", "only cli.main exits"),
    ("cli/wiring.py", "raise SystemExit", "cli.wiring:4", "only cli.main exits"),
]


def build(folder: Path, files: dict[str, str]) -> Path:
    """Write a package `trunchbuild` below the folder."""
    for name, text in files.items():
        path = folder / "trunchbuild" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_this_package_keeps_every_rule() -> None:
    """No module of ours breaks a rule."""
    package = Package(CHECKOUT)
    assert package.violations() == []
    assert {"trunchbuild.errors", "trunchbuild.core.ids", "trunchbuild.cli.wiring"} <= set(package.trees)


def test_the_smallest_house_keeps_every_rule(tmp_path: Path) -> None:
    """What the breaches below are added to has none itself, so that each is seen alone."""
    assert Package(build(tmp_path, HOUSE)).violations() == []


@pytest.mark.parametrize(("file", "added", "place", "words"), BREACHES, ids=[f"{row[0]}: {row[1]}" for row in BREACHES])
def test_each_breach_is_caught(file: str, added: str, place: str, words: str, tmp_path: Path) -> None:
    """One added line breaks one rule, which names the module, the line and the rule."""
    found = Package(build(tmp_path, HOUSE | {file: HOUSE.get(file, "") + added + "\n"})).violations()
    place = place if place.startswith("trunchbuild") else f"trunchbuild.{place}"
    assert any(line.startswith(f"{place}: ") and words in line for line in found), found


def test_a_breach_in_the_real_package_is_caught(tmp_path: Path) -> None:
    """The same line in every module of the real package: each module of each layer is looked at."""
    shutil.copytree(CHECKOUT / "trunchbuild", tmp_path / "trunchbuild", ignore=shutil.ignore_patterns("__pycache__"))
    for layer in ("core", "effects", "flows", "cli"):
        for path in (tmp_path / "trunchbuild" / layer).rglob("*.py"):
            path.write_text(
                path.read_text(encoding="utf-8") + "\nfrom trunchbuild.guest import run\n", encoding="utf-8"
            )
    package = Package(tmp_path)
    broken = {line.partition(":")[0] for line in package.violations() if "nobody imports the guest" in line}
    assert broken == {
        name for name in package.trees if name.split(".")[1:2] in (["core"], ["effects"], ["flows"], ["cli"])
    }
    assert len(broken) > 40


HEAVY = {
    "aiohttp",
    "blake3",
    "dulwich",
    "esprima",
    "httpx",
    "jsonschema",
    "re2",
    "rich",
    "sqlite3",
    "unicodedata2",
    "xllamacpp",
}


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_the_command_line_starts_light(arguments: list[str]) -> None:
    """A heavy library is imported when a command needs it, never to print a version or a list of commands."""
    script = (
        "import sys, json\nfrom trunchbuild.cli.main import invoke\n"
        f"code = invoke({arguments!r})\nprint(json.dumps([code, sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    assert HEAVY & set(modules) == set()
    assert "trunchbuild.cli.main" in modules
