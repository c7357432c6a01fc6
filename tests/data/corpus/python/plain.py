"""A transformer in plain Python: no sandbox, no code of ours. `python plain.py ENTRY SOURCES`, in its folder."""

import hashlib
import importlib
import json
import pathlib
import sys

ROOT = "corpus_entry"


def load(entry):
    """Import ENTRY as a module of a package whose folder is the current one, so that relative imports work."""
    package = type(sys)(ROOT)
    package.__path__ = [str(pathlib.Path.cwd())]
    sys.modules[ROOT] = package
    return importlib.import_module(f"{ROOT}.{entry.removesuffix('.py').replace('/', '.')}")


def main():
    """Write each case as compact JSON and a line feed."""
    entry, sources = sys.argv[1], json.loads(sys.argv[2])
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    read = {}
    for name, path in sources.items():
        data = pathlib.Path(path).read_bytes()
        read[name] = {"path": path, "content": data.decode("utf-8"), "sha256": hashlib.sha256(data).hexdigest()}
    for case in load(entry).transform(read):
        text = json.dumps(case, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        output.write(text.encode("utf-8") + b"\n")


main()
