"""Write trunchbuild/core/case_folding.py from the Unicode Character Database.

    npm pack @unicode/unicode-18.0.0 && tar xzf unicode-unicode-18.0.0-*.tgz
    python tools/make_case_folding.py package 18.0.0 > trunchbuild/core/case_folding.py

The npm package repackages CaseFolding.txt of that Unicode version: `Case_Folding/C` holds the common mappings, `F` the
full ones (one character to several). Full case folding is C and F together; S (simple) and T (Turkic) are left out.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
from pathlib import Path

HEADER = '''\
"""Full case folding of Unicode {version}; written by tools/make_case_folding.py, not by hand.

Data: CaseFolding.txt of the Unicode Character Database, Copyright Unicode, Inc., under the Unicode License V3
(LICENSE-UNICODE.txt, beside this file).
"""

UNICODE_VERSION = "{version}"

RUNS = (
'''


def read_map(package: Path, status: str) -> dict[int, list[int]]:
    """One status of CaseFolding.txt: code point -> code points."""
    text = (package / "Case_Folding" / status / "code-points.mjs").read_text()
    match = re.search(r"Buffer\.from\('([A-Za-z0-9+/=]+)'", text)
    if match is None:
        raise SystemExit(f"{package}: the package holds its data in another form than expected")
    rows = json.loads(gzip.decompress(base64.b64decode(match.group(1))))
    return {source: target if isinstance(target, list) else [target] for source, target in rows}


def runs_of(common: dict[int, list[int]]) -> list[tuple[int, int, int, int]]:
    """Mappings as (first, last, step, offset): each code point of the run folds to itself plus the offset."""
    runs: list[tuple[int, int, int, int]] = []
    for source, (target,) in sorted(common.items()):
        offset = target - source
        if runs:
            first, last, step, before = runs[-1]
            gap = source - last
            if offset == before and gap in ((1, 2) if first == last else (step,)):
                runs[-1] = (first, source, gap, offset)
                continue
        runs.append((source, source, 1, offset))
    return runs


def main(package: str, version: str) -> None:
    """Print the module."""
    common, full = read_map(Path(package), "C"), read_map(Path(package), "F")
    out = sys.stdout.write
    out(HEADER.format(version=version))
    for first, last, step, offset in runs_of(common):
        out(f"    (0x{first:04X}, 0x{last:04X}, {step}, {offset}),\n")
    out(')\n"""Common mappings: (first, last, step, offset)."""\n\nFULL = {\n')
    for source, targets in sorted(full.items()):
        escaped = "".join(f"\\u{target:04x}" for target in targets)
        out(f'    0x{source:04X}: "{escaped}",\n')
    out('}\n"""Full mappings: one character to several."""\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
