"""What `trunchbuild COMMAND --help` shows at its end: command lines to start from."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "inspect": (
        "trunchbuild inspect",
        "trunchbuild inspect path/to/benchmark --strict --portability",
        "trunchbuild inspect github:OWNER/NAME@main --config evals/benchmark.config.ts",
    ),
    "transform": (
        "trunchbuild transform --transformer transformers/index.ts \\",
        "  --source rows=data/rows.jsonl --source labels=data/labels.json -o exports/cases.jsonl",
    ),
    "transform-batch": (
        "trunchbuild transform-batch transform-batch.json",
        "trunchbuild transform-batch transform-batch.json --check",
    ),
    "compile": (
        "trunchbuild compile .@HEAD",
        "trunchbuild compile github:OWNER/NAME@v1.0.0 --out lockfiles",
        "trunchbuild compile .@HEAD --locked",
    ),
    "show": (
        "trunchbuild show small-sums@1.0.0 --cases",
        "trunchbuild show small-sums@1.0.0 --case sums/add-1 --private",
    ),
    "diff": (
        "trunchbuild diff small-sums@1.0.0 small-sums@1.1.0",
        "trunchbuild diff lockfiles/small-sums.lock.toml path/to/folder",
    ),
    "export": (
        "trunchbuild export small-sums@1.0.0 release",
        "trunchbuild export small-sums@1.0.0 public --without-private",
    ),
    "import": ("trunchbuild import path/to/folder",),
    "prove": ("trunchbuild prove small-sums@1.0.0 sums/add-1 -o proof.json",),
    "verify": (
        "trunchbuild verify lockfiles/small-sums.lock.toml --rebuild --repo path/to/repository",
        "trunchbuild verify path/to/folder",
        "trunchbuild verify runs/NAME/LABEL/MODEL/RUN",
        "trunchbuild verify proof.json --manifest manifest.json",
    ),
    "gc": ("trunchbuild gc --remove small-sums@1.0.0",),
    "eval": (
        "trunchbuild eval small-sums@1.0.0 --provider local",
        "OPENAI_API_KEY=... trunchbuild eval small-sums@1.0.0 --model ID --base-url https://host/v1",
        "trunchbuild eval small-sums@1.0.0 --model ID --base-url https://host/v1 --limit 3 --dry-run",
    ),
    "grade": (
        "trunchbuild grade runs/NAME/LABEL/MODEL/RUN",
        "trunchbuild grade small-sums@1.0.0 --replies replies.jsonl --model ID -o runs/elsewhere",
    ),
}


def epilog(command: str) -> str | None:
    """The examples of one command as `click` takes them; None where there are none."""
    lines = EXAMPLES.get(command)
    return None if lines is None else "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))
