/** One row of data/questions.jsonl. */
export interface Question {
  ref: string
  room: string
  stem: string
  options: string[]
  note?: string
}

export const LETTERS = ["A", "B", "C", "D"] as const

/** The stem, an empty line, and one lettered line for each option. */
export function promptOf(question: Question): string {
  const lines = question.options.map((option, n) => `${LETTERS[n]}. ${option}`)
  return `${question.stem}\n\n${lines.join("\n")}`
}
