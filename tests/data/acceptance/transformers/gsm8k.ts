// GSM8K in the manner of published ports: types, `as const`, `satisfies`, optional chaining, numeric separators,
// Node's hashing, and a relative import without extension.
import { createHash } from "node:crypto"
import { recordsOf, type Source } from "./records"

const SPLITS = ["train", "test"] as const
type Split = (typeof SPLITS)[number]
const LARGEST_SOURCE = 16_777_216
const NUMBER = /#### (?<number>-?[0-9.,]+)$/u

function check(split: Split, source: Source): void {
  const digest = createHash("sha256").update(source.content, "utf8").digest("hex")
  if (digest !== source.sha256) throw new Error(`${split}: content and digest do not belong together`)
  if (source.content.length > LARGEST_SOURCE) throw new RangeError(`${split}: too large`)
}

function toCase(split: Split, row: { question: string; answer: string }, index: number) {
  const expected = row.answer.trimEnd().match(NUMBER)?.groups?.number?.replaceAll(",", "")
  if (expected === undefined) throw new Error(`${split} row ${index + 1}: no final number`)
  return {
    id: `${split}-row-${index + 1}`,
    prompt: row.question,
    description: `GSM8K ${split} split mathematics problem.`,
    evaluate: { kind: "gsm8k", expected } as const,
    tags: undefined,
  }
}

export default {
  name: "GSM8K port",
  async transform({ sources }: { sources: Partial<Record<Split, Source>> }) {
    const cases = []
    for (const split of SPLITS) {
      const source = sources[split]
      if (source == null) continue
      check(split, source)
      for await (const [index, row] of recordsOf(source).entries()) cases.push(toCase(split, row, index))
    }
    return cases
  },
} satisfies { name: string; transform: (input: never) => Promise<unknown[]> }
