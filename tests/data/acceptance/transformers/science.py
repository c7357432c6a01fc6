"""ARC's rows as multiple choice with a fixed final line."""

import json

name = "Science port"


def transform(sources):
    cases = []
    for line in filter(None, sources["cases"]["content"].split("\n")):
        row = json.loads(line)
        choices = row["question"]["choices"]
        options = list(zip(choices["label"], choices["text"], strict=True))
        cases.append(
            {
                "id": row["id"].lower(),
                "prompt": "\n".join([row["question"]["stem"], "", *(f"{label}. {text}" for label, text in options)]),
                "description": "ARC-Challenge science reasoning question.",
                "evaluate": {
                    "kind": "answer_bank",
                    "answers": [f"FINAL ANSWER: {row['answerKey']}"],
                    "forbiddenAnswers": [f"FINAL ANSWER: {label}" for label, _ in options if label != row["answerKey"]],
                },
            }
        )
    return cases
