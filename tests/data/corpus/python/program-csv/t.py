"""Questions of a spreadsheet."""

import csv
import io
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Iterator, Optional

name = "spreadsheet"


@dataclass(frozen=True)
class Question:
    id: str
    prompt: str
    answer: Optional[str] = None
    notes: list[str] = field(default_factory=list)

    @property
    def words(self) -> int:
        return len(self.prompt.split())


def read(text: str) -> Iterator[Question]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    for number, row in enumerate(reader, start=2):
        notes = [f"row {number}"]
        if not row["answer"]:
            notes.append("no answer")
        yield Question(row["id"], row["question"], row["answer"] or None, notes)


def transform(sources):
    questions = list(read(sources["rows"]["content"]))
    by_length = defaultdict(list)
    for question in questions:
        by_length[question.words].append(question.id)
    cases = [{**asdict(question), "words": question.words} for question in questions]
    return cases + [{"id": "lengths", "table": {f"w{key}": by_length[key] for key in sorted(by_length, reverse=True) if key > 2}}]
