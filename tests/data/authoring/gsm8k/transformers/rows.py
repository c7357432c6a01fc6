"""The same transformer in Python."""

import json

name = "GSM8K rows"


def transform(sources):
    cases = []
    for split in ("train", "test"):
        lines = sources[split]["content"].split("\n") if split in sources else []
        for number, line in enumerate(filter(None, lines), 1):
            row = json.loads(line)
            expected = row["answer"].split("#### ")[-1].strip().replace(",", "")
            cases.append(
                {
                    "id": f"{split}-row-{number}",
                    "prompt": row["question"],
                    "description": f"GSM8K {split} split mathematics problem.",
                    "evaluate": {"kind": "gsm8k", "expected": expected},
                }
            )
    return cases
