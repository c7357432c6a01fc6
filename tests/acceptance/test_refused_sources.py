"""What would make a release irreproducible is refused with file, line and reason; its harmless twin passes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Outcome, trunchbuild

JAVASCRIPT = [
    ("return [{ id: 'a', prompt: String(Math.random()) }]", "Math.random"),
    ("const { random } = Math\n    return [{ id: 'a', prompt: String(random()) }]", "random"),
    ("return [{ id: 'a', prompt: `${Date.now()}` }]", "Date.now"),
    ("return [{ id: 'a', prompt: new Date().toISOString() }]", "Date"),
    ("return [{ id: 'a', prompt: process.env.HOME ?? '' }]", "process"),
    ("return [{ id: 'a', prompt: globalThis.process.env.USER }]", "process"),
    ("return fetch('http://127.0.0.1:9/cases.json').then((reply) => reply.json())", "fetch"),
    ("return new WebSocket('ws://127.0.0.1:9')", "WebSocket"),
    ("const fs = require('fs')\n    return JSON.parse(fs.readFileSync('cases.json', 'utf8'))", "require"),
    ("return import('./other.mjs').then((module) => module.cases)", "import("),
    ("return [{ id: 'a', prompt: crypto.randomUUID() }]", "crypto"),
    ("return [{ id: 'a', prompt: performance.now().toString() }]", "performance"),
]
IMPORTS = [
    ("import fs from 'node:fs'", "node:fs"),
    ("import { readFile } from 'fs/promises'", "fs/promises"),
    ("import net from 'node:net'", "node:net"),
    ("import { execSync } from 'child_process'", "child_process"),
    ("import { env } from 'node:process'", "node:process"),
    ("import { randomUUID } from 'node:crypto'", "randomUUID"),
]
PYTHON = [
    ("import random", "return [{'id': 'a', 'prompt': str(random.random())}]", 1, "random"),
    ("from random import shuffle", "return [{'id': 'a', 'prompt': str(shuffle)}]", 1, "random"),
    ("import os", "return [{'id': 'a', 'prompt': os.environ['HOME']}]", 1, "os"),
    ("import time", "return [{'id': 'a', 'prompt': str(time.time())}]", 1, "time"),
    ("import datetime", "return [{'id': 'a', 'prompt': str(datetime.date.today())}]", 1, "datetime"),
    ("import socket", "return socket.create_connection(('127.0.0.1', 9))", 1, "socket"),
    ("import json", "return json.load(open('cases.json'))", 4, "open"),
    ("import json", "return __import__('os').listdir('.')", 4, "__import__"),
]
HARMLESS = {
    "t.mjs": """
// Math.random(), Date.now(), process.env, fetch(), require('fs') and import('x') in a comment.
import { createHash } from "node:crypto"

export default {
  name: "Words",
  transform({ sources }) {
    const process = { env: { HOME: "a house" } }
    const fetch = (name) => sources[name].content
    const fs = { readFileSync: fetch }
    const text = "Math.random(); Date.now(); import fs from 'node:fs'; require('net')"
    const when = new Date(0).toISOString() + new Date(2020, 1, 29).getDate()
    const random = { Math: { random: () => 4 } }
    return [
      { id: "words", prompt: `${text} ${/process\\.env\\.PATH|import\\(/.source}` },
      { id: "names", prompt: `${process.env.HOME} ${fs.readFileSync("rows").length} ${random.Math.random()}` },
      { id: "dates", prompt: when },
      { id: "hash", prompt: createHash("sha256").update("x").digest("hex") },
    ]
  },
}
""",
    "t.py": '''
"""import random; open('/etc/passwd'); os.environ."""
import hashlib

name = "Words"


def transform(sources):
    random = {"random": 4}
    open = sources["rows"]["content"].upper
    words = {"pear", "apple", "fig"}
    return [
        {"id": "words", "prompt": "import random, os; open('x'); datetime.now()"},
        {"id": "names", "prompt": f"{random['random']} {len(open())}"},
        {"id": "sets", "prompt": " ".join(sorted(words))},
        {"id": "hash", "prompt": hashlib.sha256(b"x").hexdigest()},
    ]
''',
}


def transform(folder: Path, home: Path, module: str, text: str) -> Outcome:
    """Export the cases of a module that stands beside some rows."""
    (folder / module).write_text(text)
    (folder / "rows.jsonl").write_text('{"id": "a"}\n')
    outcome = trunchbuild(
        *("transform", "--transformer", module, "--source=rows=rows.jsonl", "--output=out.jsonl", "--unchecked"),
        cwd=folder,
        home=home,
    )
    assert "Traceback" not in outcome.err
    assert (folder / "out.jsonl").exists() == (outcome.code == 0), outcome
    return outcome


@pytest.mark.parametrize(("body", "reason"), JAVASCRIPT, ids=[reason for _, reason in JAVASCRIPT])
def test_javascript_uses(tmp_path: Path, warm_home: Path, body: str, reason: str) -> None:
    text = f"export default {{\n  name: 't',\n  transform() {{\n    {body}\n  }},\n}}\n"
    line = 4
    outcome = transform(tmp_path, warm_home, "t.mjs", text)
    assert (outcome.code, outcome.out) == (3, "")
    assert f"t.mjs:{line}:" in outcome.err
    assert reason in outcome.err


@pytest.mark.parametrize(("statement", "reason"), IMPORTS, ids=[reason for _, reason in IMPORTS])
def test_javascript_imports(tmp_path: Path, warm_home: Path, statement: str, reason: str) -> None:
    text = f"// A port.\n{statement}\nexport default {{ name: 't', transform: () => [{{ id: 'a', prompt: 'p' }}] }}\n"
    outcome = transform(tmp_path, warm_home, "t.mjs", text)
    assert (outcome.code, outcome.out) == (3, "")
    assert "t.mjs:2:" in outcome.err
    assert reason in outcome.err


@pytest.mark.parametrize(("statement", "body", "line", "reason"), PYTHON, ids=[case[3] for case in PYTHON])
def test_python_uses(tmp_path: Path, warm_home: Path, statement: str, body: str, line: int, reason: str) -> None:
    outcome = transform(tmp_path, warm_home, "t.py", f"{statement}\nname = 't'\ndef transform(sources):\n    {body}\n")
    assert (outcome.code, outcome.out) == (3, "")
    assert f"t.py:{line}:" in outcome.err
    assert reason in outcome.err


def test_the_order_of_a_python_set_is_refused_and_explained(tmp_path: Path, warm_home: Path) -> None:
    text = "name = 't'\ndef transform(sources):\n    return [{'id': w, 'prompt': w} for w in {'pear', 'fig'}]\n"
    outcome = transform(tmp_path, warm_home, "t.py", text)
    assert (outcome.code, outcome.out) == (1, "")
    assert "different order" in outcome.err
    assert "hint: t.py:3: takes elements out of a set" in outcome.err


@pytest.mark.parametrize("module", sorted(HARMLESS))
def test_harmless_twins_pass(tmp_path: Path, warm_home: Path, module: str) -> None:
    outcome = transform(tmp_path, warm_home, module, HARMLESS[module])
    assert (outcome.code, outcome.err) == (0, "")
    cases = {case["id"]: case["prompt"] for case in map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())}
    assert "random" in cases["words"]
    assert "4" in cases["names"]
    assert cases["hash"] == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # `printf x | sha256sum`
