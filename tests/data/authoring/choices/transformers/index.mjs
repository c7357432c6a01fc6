// Multiple choice in ARC's row format, answered by a fixed final line.
export default {
  name: "Science choices",
  transform({ sources }) {
    return sources.cases.content.split(/\r?\n/).filter(Boolean).map((line) => {
      const { id, question, answerKey } = JSON.parse(line)
      const { label: labels, text: texts } = question.choices
      const options = labels.map((label, index) => `${label}. ${texts[index]}`)
      return {
        id: id.toLowerCase(),
        prompt: `${question.stem}\n\n${options.join("\n")}`,
        description: "ARC-Challenge science reasoning question.",
        evaluate: {
          kind: "answer_bank",
          answers: [`FINAL ANSWER: ${answerKey}`],
          forbiddenAnswers: labels.filter((label) => label !== answerKey).map((label) => `FINAL ANSWER: ${label}`),
        },
      }
    })
  },
}
