import { createHash } from "node:crypto"
import type { Question } from "./layout"
import { LETTERS, promptOf } from "./layout"

type Source = { path: string; content: string; sha256: string }

export default {
  name: "Everyday choices",

  transform({ sources }: { sources: Record<"questions" | "key", Source> }) {
    const key = JSON.parse(sources.key.content) as Record<string, number>

    return sources.questions.content
      .split(/\r?\n/)
      .filter(Boolean)
      .map((line) => {
        const question = JSON.parse(line) as Question
        const right = key[question.ref]
        const letters = LETTERS.slice(0, question.options.length)

        return {
          id: `${question.room}-${createHash("sha256").update(question.ref).digest("hex").slice(0, 8)}`,
          prompt: promptOf(question),
          description: question.note ?? `A choice for the ${question.room}.`,
          tags: { room: question.room, options: question.options.length },
          evaluate: {
            kind: "answer_bank",
            answers: [`FINAL ANSWER: ${letters[right]}`],
            forbiddenAnswers: letters.filter((_, n) => n !== right).map((letter) => `FINAL ANSWER: ${letter}`),
          },
        }
      })
  },
}
