// GSM8K: the answer is what follows the last "#### " of a row, commas removed.
import { rowsOf, type Row } from "./rows"

const SPLITS = ["train", "test"] as const
type Split = (typeof SPLITS)[number]

interface Sources {
  readonly [name: string]: { readonly path: string; readonly content: string; readonly sha256: string } | undefined
}

function toCase(split: Split, row: Row, index: number) {
  const expected = row.answer.split("#### ").at(-1)!.trim().replaceAll(",", "")
  return {
    id: `${split}-row-${index + 1}`,
    prompt: row.question,
    description: `GSM8K ${split} split mathematics problem.`,
    evaluate: { kind: "gsm8k" as const, expected },
  }
}

export default {
  name: "GSM8K rows",
  transform({ sources }: { sources: Sources }) {
    return SPLITS.flatMap((split) => rowsOf(sources[split]?.content ?? "").map((row, index) => toCase(split, row, index)))
  },
}
