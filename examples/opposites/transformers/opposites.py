"""One case for each row of pairs.tsv; several right answers are divided by `|`."""

import csv
import io
import re
import unicodedata

name = "Opposites"


def slug(word):
    plain = unicodedata.normalize("NFD", word)
    return re.sub("[^a-z]", "", plain)


def transform(sources):
    rows = csv.DictReader(io.StringIO(sources["pairs"]["content"]), delimiter="\t")
    cases = []
    for number, row in enumerate(rows, start=1):
        cases.append(
            {
                "id": f"{number:02d}-{slug(row['word'])}",
                "prompt": f"What is the opposite of \u201c{row['word']}\u201d?",
                "tags": {"level": int(row["level"])},
                "evaluate": {
                    "kind": "exact",
                    "expected": row["opposites"].split("|"),
                    "ignoreCase": True,
                },
            }
        )
    return cases
